"""What `rigloop export` writes is a log: taken in without a line by hand in each format, and replayed."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from io_bridge.recording.record import open_record
from rigloop.cli import app

pytestmark = pytest.mark.slow

FORMS = {
    "csv": ("csv", None), "parquet": ("parquet", "pyarrow"), "mdf": ("mf4", "asammdf"), "mcap": ("mcap", "mcap"),
    "hdf5": ("h5", "h5py"), "mat": ("mat", "scipy"),
}  # fmt: skip


def call(*arguments):
    done = CliRunner().invoke(app, [str(argument) for argument in (*arguments, "--json")])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    runs = tmp_path_factory.mktemp("runs")
    log = runs / "turns.csv"
    t_s = np.arange(1200) * 1e-3
    count = np.rint(8192 * (np.cos(2.5 * t_s) + 0.2 * np.cos(11.0 * t_s)))
    rows = "".join(f"{t:.3f},{c:.0f}\n" for t, c in zip(t_s, count, strict=True))
    log.write_text(f"# encoder: 65536 counts/rev\ntime [s],enc [counts]\n{rows}")
    mapping = runs / "turns.toml"
    call("log", "check", log, "--write", mapping)
    options = ("--mapping", mapping, "--runs", runs, "--no-report")
    return Path(call("replay", log, *options)["folder"])


@pytest.mark.parametrize("form", FORMS)
def test_an_export_is_checked_and_replayed_as_a_log(run, form, tmp_path):
    ending, library = FORMS[form]
    if library:
        pytest.importorskip(library)
    path, mapping = tmp_path / f"out.{ending}", tmp_path / "mapping.toml"
    call("export", run, "--to", form, "--out", path)
    (checked,) = call("log", "check", path, "--write", mapping)["logs"]
    assert checked["good"]
    assert not checked["faults"]
    angle = open_record(run / "estimation.npy")["wheel/angle_rad"]
    assert checked["samples"] == len(angle)
    # the count behind the angle is the encoder's, before the filter
    assert checked["range_rad"] == pytest.approx([np.min(angle), np.max(angle)], abs=0.02)
    outcome = call("replay", path, "--mapping", mapping, "--runs", tmp_path / "runs", "--no-report")
    assert outcome["good"], outcome

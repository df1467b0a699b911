"""A log replayed part by part: the bits of the replay as a whole, figures of its record, one of some cycles kept."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from io_bridge.logs import parts as parts_module
from io_bridge.recording.record import open_record
from rigloop.cli import app
from rigloop.replay import long_log

pytestmark = pytest.mark.slow

N = 3000
STEPPED_AT_ONCE = 3331


def call(*arguments, code=0):
    done = CliRunner().invoke(app, [str(argument) for argument in (*arguments, "--json")])
    assert done.exit_code == code, done.output
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "turns.csv"
    t_s = np.arange(N) * 1e-3
    count = np.rint(8192 * (np.cos(2.5 * t_s) + 0.2 * np.cos(11.0 * t_s)))
    t_s[2000:] += 0.05
    rows = "".join(f"{t:.3f},{c:.0f}\n" for t, c in zip(t_s, count, strict=True))
    path.write_text(f"# encoder: 65536 counts/rev\ntime [s],enc [counts]\n{rows}")
    call("log", "check", path, "--write", path.with_suffix(".toml"))
    return (path, "--mapping", path.with_suffix(".toml"))


@pytest.fixture(scope="module")
def whole(log, tmp_path_factory):
    runs = tmp_path_factory.mktemp("whole")
    return Path(call("replay", *log, "--runs", runs, "--no-report")["folder"])


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(long_log, "CHUNK", STEPPED_AT_ONCE)
    monkeypatch.setattr(parts_module, "BESIDE", 50)
    monkeypatch.setattr(parts_module, "PART", 700)


@pytest.mark.usefixtures("small_parts")
def test_one_of_some_cycles_is_kept_with_the_bits_of_the_whole(log, whole, tmp_path):
    outcome = call("replay", *log, "--runs", tmp_path, "--keep", 7)
    assert outcome["good"], outcome
    for task in ("estimation", "simulation"):
        every = open_record(whole / f"{task}.npy")
        some = open_record(Path(outcome["folder"]) / f"{task}.npy")
        assert some.dtype == every.dtype
        assert some.tobytes() == every[::7].tobytes()


@pytest.mark.usefixtures("small_parts")
def test_a_summary_has_the_figures_of_the_record_and_keeps_none(log, whole, tmp_path):
    outcome = call("replay", *log, "--runs", tmp_path, "--keep", "summary")
    folder = Path(outcome["folder"])
    assert [len(open_record(path)) for path in folder.glob("*.npy")] == [0, 0]
    assert call("show", folder)
    assert "no cycle is recorded" in call("export", folder, "--to", "csv", code=2)["mistakes"][0]
    signals = json.loads((folder / "summary.json").read_text())["signals"]
    record = open_record(whole / "simulation.npy")
    torque = record["steering/guide/torque_nm"]
    figures = signals["steering/guide/torque_nm"]
    assert figures["cycles"] == len(torque)
    assert (figures["least"], figures["largest"]) == (np.min(torque), np.max(torque))
    assert figures["rms"] == pytest.approx(np.sqrt(np.mean(torque**2)), rel=1e-12)
    assert figures["last"] == torque[-1]
    assert not any(name.startswith("loop/") for name in signals)


@pytest.mark.parametrize("keep", ["0", "-1", "some", "1e9"])
def test_what_cannot_be_kept_is_refused(log, keep, tmp_path):
    answer = call("replay", *log, "--runs", tmp_path, f"--keep={keep}", code=2)
    assert "give all, summary, or a number" in answer["mistakes"][0]
    assert not [*tmp_path.iterdir()]

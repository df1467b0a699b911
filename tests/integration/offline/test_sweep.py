"""Sweeps: the same table whoever computes it, resumed where it was killed, and the bits of a replay."""

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from io_bridge.recording.record import open_record
from rigloop.cli import app

pytest.importorskip("pyarrow")
pytestmark = pytest.mark.slow

LOGS = Path(__file__).parents[2] / "data" / "logs"
LOG = LOGS / "phobos_limtoc_k10_wrap.csv"
SETS = ("--set", "blocks.wheel.bandwidth_rad_s=100.0,200.0")


def call(*arguments, code=0):
    done = CliRunner().invoke(app, [str(argument) for argument in (*arguments, "--json")])
    assert done.exit_code == code, done.output
    return json.loads(done.stdout)


def swept(out, *options, logs=(LOG,), code=0):
    call("sweep", *logs, *SETS, "--out", out, *options, code=code)
    return out.read_bytes()


def rows_of(path):
    import pyarrow.parquet as parquet

    return parquet.read_table(path).to_pylist()


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("sweep") / "one.parquet"
    swept(path, "--workers", 1, "--plot", path.parent / "plots")
    return path


def test_a_row_has_parameters_metrics_and_the_hash_of_a_replay(table, tmp_path):
    rows = rows_of(table)
    assert [row["blocks.wheel.bandwidth_rad_s"] for row in rows] == [100, 200]
    assert all(np.isfinite(row["torque_rms"]) and not row["error"] for row in rows)
    assert rows[0]["sha256"] != rows[1]["sha256"]
    options = ("--set", "blocks.wheel.bandwidth_rad_s=200.0", "--runs", tmp_path, "--no-report")
    folder = Path(call("replay", LOG, *options)["folder"])
    digests = []
    for task in ("estimation", "simulation"):
        record = np.array(open_record(folder / f"{task}.npy"))
        cells = record.view(np.float64).reshape(len(record), -1)[:, 1:]
        digests.append(hashlib.sha256(np.ascontiguousarray(cells)).hexdigest())
        if task == "simulation":
            torque = record["steering/guide/torque_nm"]
            assert rows[1]["torque_rms"] == pytest.approx(np.sqrt(np.mean(torque**2)), rel=1e-12)
    assert hashlib.sha256("".join(digests).encode()).hexdigest() == rows[1]["sha256"]


def test_plots_are_there(table):
    names = {path.name for path in (table.parent / "plots").iterdir()}
    assert "torque_rms_tornado.png" in names


def test_a_sweep_that_was_cut_short_goes_on_to_the_same_table(table, tmp_path, monkeypatch):
    from rigloop.sweep import sweep as module

    def killed(batches, workers, scheduler):
        from rigloop.sweep.simulate import run_batch

        yield run_batch(batches[0])
        raise KeyboardInterrupt

    out = tmp_path / "again.parquet"
    with monkeypatch.context() as patched:
        patched.setattr(module, "computed", killed)
        arguments = ["sweep", str(LOG), *SETS, "--out", str(out), "--workers", "1"]
        assert CliRunner().invoke(app, arguments).exit_code != 0
    assert not out.exists()
    # by other processes, too
    answer = call("sweep", LOG, *SETS, "--out", out, "--workers", 2)
    assert answer["resumed"] == 1
    assert out.read_bytes() == table.read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["again.parquet"]
    mistakes = call("sweep", LOG, *SETS, "--out", out, code=3)["mistakes"]
    assert "--force" in mistakes[0]


def test_a_mechanism_that_changed_since_is_another_sweep(tmp_path, monkeypatch):
    from rig_configs.load import find_rig
    from rigloop.sweep import sweep as module

    rig, mechanism = tmp_path / "own.toml", tmp_path / "mine.toml"
    shipped = find_rig("steering_wheel").parents[1] / "mechanisms" / "steering_26.toml"
    named = shipped.read_text().replace('name = "steering_26"', 'name = "mine"', 1)
    mechanism.write_text(named)
    text = find_rig("steering_wheel").read_text()
    rig.write_text(text.replace('mechanism = "steering_26"', 'mechanism = "mine.toml"'))

    def stopped(batches, workers, scheduler):
        raise KeyboardInterrupt

    out = tmp_path / "x.parquet"
    with monkeypatch.context() as patched:
        patched.setattr(module, "computed", stopped)
        arguments = ["sweep", str(LOG), "--rig", str(rig), "--out", str(out)]
        assert CliRunner().invoke(app, arguments).exit_code != 0
    mechanism.write_text(named + "\n# heavier\n")
    said = call("sweep", LOG, "--rig", rig, "--out", out, code=3)["mistakes"]
    assert "changed since" in said[0]


def test_wrong_values_of_several_points_are_told_at_once(tmp_path):
    sets = (
        "--set",
        "blocks.wheel.bandwidth_rad_s=-1.0,-2.0",
        "--set",
        "blocks.guard.limit_nm=-3.0",
    )
    said = call("sweep", LOG, *sets, "--out", tmp_path / "x.parquet", code=2)["mistakes"]
    assert [words.split(" = ")[1].split(":")[0] for words in said] == ["-1.0", "-3.0", "-2.0"]
    said = call("sweep", LOG, "--out", tmp_path / "x.csv", code=3)["mistakes"]
    assert "ends in .parquet" in said[0]


def test_a_replay_that_cannot_be_is_a_row_with_its_reason(tmp_path):
    damaged = tmp_path / "damaged.csv"
    damaged.write_text("nothing\n")
    out = tmp_path / "x.parquet"
    swept(out, "--workers", 1, logs=(damaged,), code=1)
    rows = rows_of(out)
    assert all("damaged.csv" in row["error"] for row in rows)
    assert all(np.isnan(row["torque_rms"]) for row in rows)


@pytest.fixture
def dask(tmp_path):
    """Start a scheduler and two workers, as a user does; return the address of the scheduler."""
    pytest.importorskip("distributed")
    known = tmp_path / "scheduler.json"
    commands = [["scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]]
    commands += [["worker", "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1"]] * 2
    with contextlib.ExitStack() as opened:
        for arguments in commands:
            command = [sys.executable, "-m", "dask", *arguments, "--scheduler-file", str(known)]
            process = opened.enter_context(
                subprocess.Popen(
                    command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                )
            )
            opened.callback(process.terminate)
        end_s = time.monotonic() + 60.0
        while not known.exists() or not known.read_text():
            assert time.monotonic() < end_s, "the scheduler wrote no file"
            time.sleep(0.05)
        yield json.loads(known.read_text())["address"]


def test_a_dask_scheduler_with_two_workers_gives_the_same_bytes(table, tmp_path, dask):
    assert swept(tmp_path / "dask.parquet", "--scheduler", dask) == table.read_bytes()


def test_a_sweep_that_is_killed_goes_on_to_the_same_table(tmp_path):
    whole, out = tmp_path / "whole.parquet", tmp_path / "killed.parquet"
    sets = ("--set", "blocks.wheel.bandwidth_rad_s=100.0:300.0:8")
    command = [sys.executable, "-m", "rigloop", "sweep", str(LOG), *sets, "--out", str(out)]
    command += ["--workers", "1"]
    journal = out.with_name("killed.parquet.journal")
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        # after the line of the sweep itself, the first rows
        while process.poll() is None and (
            not journal.exists() or journal.read_bytes().count(b"\n") < 3
        ):
            time.sleep(0.002)
        os.killpg(process.pid, signal.SIGKILL)
    if out.exists():
        pytest.skip("it was done before it could be killed")
    assert journal.exists()
    answer = call("sweep", LOG, *sets, "--out", out, "--workers", 2)
    assert 1 <= answer["resumed"] < 8
    call("sweep", LOG, *sets, "--out", whole, "--workers", 1)
    assert out.read_bytes() == whole.read_bytes()
    assert not journal.exists()

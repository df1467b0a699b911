"""Whatever kills a run: its folder says what it was, `rigloop report` rebuilds the verdict, nothing stays behind."""

import contextlib
import json
import os
import shutil
import signal

import numpy as np
import pytest

from io_bridge.recording.record import open_record
from rigloop.run_folder.manifest import read_manifest, read_timing
from rigloop.run_folder.process_state import Process

pytestmark = pytest.mark.slow

GONE_TIMEOUT_S = 20


def kill_all(live):
    """SIGKILL to the supervisor and everything that it started, at once."""
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in live.left():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
    live.process.wait()
    live.wait_until_gone(GONE_TIMEOUT_S)


@pytest.fixture
def reported(rigloop_here):
    def report(folder):
        done = rigloop_here("report", folder, "--json")
        assert done.stdout, done.stderr
        return done.returncode, json.loads(done.stdout)

    return report


def test_a_run_of_which_everything_was_killed_is_rebuilt(start_live, reported, tmp_path, rigloop):
    live = start_live(None, "--for", "60")
    live.wait_until_it_pushes()
    # while it runs, the manifest says so, and which processes it has
    manifest = read_manifest(live.folder)
    assert (manifest.state, manifest.verdict, manifest.asked_s) == ("running", "bad", 60.0)
    assert manifest.processes["supervisor"] == Process.of(live.process.pid)
    assert manifest.processes["cycle"].lives
    assert manifest.kernels[0].name == "steering"
    code, told = reported(live.folder)
    assert code == 2
    assert "still active" in told["mistakes"][0]

    table = live.table
    kill_all(live)
    assert table.exists()
    rows = len(open_record(live.folder / "estimation.npy"))
    # the newest cycle of the last record, as if the recorder had been killed between two of its takes
    again = tmp_path / "again"
    shutil.copytree(live.folder, again)

    code, outcome = reported(live.folder)
    assert code == 1
    assert not outcome["good"]
    assert "cut short while it was running" in outcome["reasons"][0]
    assert not table.exists()
    manifest = read_manifest(live.folder)
    assert (manifest.state, manifest.verdict) == ("interrupted", "bad")
    assert any("the signal table" in words for words in manifest.missing)
    record = open_record(live.folder / "estimation.npy")
    assert len(record) >= rows
    cycles = manifest.tasks["estimation"].cycles
    assert cycles - len(record) <= 1
    assert np.array_equal(record["loop/estimation/cycle"], np.arange(1, len(record) + 1))
    assert read_timing(live.folder)["estimation"]["step"].counts
    page = (live.folder / "report.html").read_text()
    assert "Not good" in page
    assert "Missing from this run" in page
    # a second time says the same
    code, repeated = reported(live.folder)
    assert (code, repeated["reasons"]) == (1, outcome["reasons"])

    # the same without a table, without a manifest, and with a record that ends within a row
    (again / "manifest.json").write_text('{"kind": "li')
    with (again / "estimation.npy").open("r+b") as file:
        file.truncate((again / "estimation.npy").stat().st_size - 5)
    code, outcome = reported(again)
    assert code == 1
    missing = read_manifest(again).missing
    assert any("manifest cannot be read" in words for words in missing), missing
    assert any("the last rows of the records" in words for words in missing), missing
    assert read_timing(again)["estimation"]["late"].counts

    done = rigloop("replay", live.folder, "--runs", tmp_path / "replays", "--json", "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "bit-equal" in done.stdout


def test_a_run_without_its_supervisor_leaves_its_last_word(start_live, reported):
    live = start_live(None, "--for", "60")
    live.wait_until_it_pushes()
    live.process.kill()
    live.process.wait()
    code, outcome = reported(live.folder)
    assert code == 1
    manifest = read_manifest(live.folder)
    assert any("last word of the cycle process" in words for words in manifest.missing)
    assert manifest.timing["estimation"]["total"].n == manifest.tasks["estimation"].cycles
    assert not [words for words in outcome["reasons"] if "record" in words], outcome


def test_the_next_run_takes_the_table_of_a_dead_one_out_of_the_memory(
    start_live, reported, rigloop, make_rig, tmp_path
):
    live = start_live(None, "--for", "60")
    live.wait_until_it_pushes()
    table = live.table
    kill_all(live)
    done = rigloop("run", make_rig(), "--for", "0.2", "--runs", tmp_path / "next", "--json")
    assert done.returncode == 0, done.stderr
    assert not table.exists()
    assert (live.folder / "signal_table").exists()
    reported(live.folder)
    assert any("the signal table" in words for words in read_manifest(live.folder).missing)
    assert not (live.folder / "signal_table").exists()


@pytest.mark.parametrize("make", [lambda p: None, lambda p: p.mkdir(), lambda p: p.write_text("")])
def test_what_is_no_run_folder_is_refused_in_a_line(rigloop_here, tmp_path, make):
    folder = tmp_path / "run"
    make(folder)
    done = rigloop_here("report", folder)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert str(folder) in done.stderr


def test_faults_on_purpose_of_a_run_that_was_cut_short_are_judged_too(rigloop, reported, tmp_path):
    killed = rigloop(
        "run", "fault_bench", "--for", "5", "--inject", "supervisor-kill@1", "--runs", tmp_path
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    (folder,) = tmp_path.iterdir()
    code, outcome = reported(folder)
    assert code == 1
    assert "cut short while it was running" in outcome["reasons"][0]
    (injected,) = outcome["injections"]
    assert injected["asked"] == "supervisor-kill@1"
    assert injected["began"] is not None
    assert injected["zero"] is not None
    assert not any("not judged" in words for words in read_manifest(folder).missing)
    # a record that does not tell of a fault ends no report
    (folder / "manifest.json").unlink()
    order = folder / "order.json"
    order.write_text(order.read_text().replace("supervisor-kill@1", "sensor-nan@1"))
    code, outcome = reported(folder)
    assert code == 1
    assert "the record of estimation has no inject1/cycle" in outcome["injections"][0]["why"][0]

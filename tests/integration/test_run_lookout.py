"""What goes wrong while a run goes on is seen at once, shown, and decides the verdict; the run ends in bounded time."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

from io_bridge.recording.record import open_record
from rigloop.run_folder.manifest import read_manifest
from rigloop.run_folder.process_state import WATCHDOG_THREAD, loop_threads, task_threads

pytestmark = pytest.mark.slow

END_TIMEOUT_S = 60  # of a run of 3 s at most, with start and report, on a busy machine


def assert_bad(outcome, *words):
    assert not outcome["good"]
    for word in words:
        assert any(re.search(word, reason) for reason in outcome["reasons"]), outcome["reasons"]


def test_a_frozen_cycle_process_is_ended_and_never_shown_as_running(start_live):
    live = start_live(None, "--for", "3")
    live.wait_until_it_pushes()
    os.kill(live.pid("rigloop.live.cycle"), signal.SIGSTOP)
    _, stderr = live.process.communicate(timeout=END_TIMEOUT_S)
    assert live.process.returncode == 1
    manifest = read_manifest(live.folder)
    assert_bad({"good": False, "reasons": manifest.reasons}, r"no new cycle for 1\.\d s.*SIGSTOP")
    # it did not wait for cycles that never came
    assert manifest.duration_s < 2.9
    assert "no new cycle" in stderr
    shown = stderr[: stderr.index("no new cycle")]
    assert "RUNNING" not in stderr[len(shown) :]
    assert "– Nm  no new cycle" in stderr
    live.wait_until_gone(END_TIMEOUT_S)


def test_what_happens_to_recorder_threads_and_table_in_a_run_is_in_its_verdict(start_live):
    live = start_live(None, "--for", "1.2", "--telemetry", f"tcp://127.0.0.1:{free_port()}")
    live.wait_until_it_pushes()
    live.table.unlink()
    os.kill(live.pid("io_bridge.recording.telemetry"), signal.SIGKILL)
    os.kill(live.pid("io_bridge.recording.recorder"), signal.SIGSTOP)
    cycle = live.pid("rigloop.live.cycle")
    thread = task_threads(cycle)["estimation"]
    time.sleep(0.2)
    demoted = thread.priority > 0
    if demoted:
        os.sched_setscheduler(thread.tid, os.SCHED_OTHER, os.sched_param(0))
    else:
        os.sched_setaffinity(thread.tid, [min(thread.cores)])
    outcome = live.end(END_TIMEOUT_S)
    assert_bad(outcome, r"telemetry was killed \(SIGKILL\)", "recorder is stopped")
    assert_bad(outcome, "thread of task estimation runs under", "signal table was taken away")
    assert not read_manifest(live.folder).real_time or not demoted
    # woken at the end, the recorder has lost nothing that its ring could hold
    manifest = read_manifest(live.folder)
    assert (
        len(open_record(live.folder / "simulation.npy")) >= manifest.tasks["simulation"].cycles - 1
    )


def test_the_thread_of_the_watchdog_is_looked_after_too(start_live):
    live = start_live(None, "--for", "1.2")
    live.wait_until_it_pushes()
    (watchdog,) = [
        t for name, t in loop_threads(live.pid("rigloop.live.cycle")) if name == WATCHDOG_THREAD
    ]
    time.sleep(0.3)
    os.sched_setscheduler(watchdog.tid, os.SCHED_BATCH, os.sched_param(0))
    outcome = live.end(END_TIMEOUT_S)
    assert_bad(outcome, "thread of the loop's watchdog runs under SCHED_BATCH")


def test_a_killed_recorder_is_followed_by_another_that_goes_on_with_its_record(start_live):
    live = start_live(None, "--for", "2")
    live.wait_until_it_pushes()
    os.kill(live.pid("io_bridge.recording.recorder"), signal.SIGKILL)
    outcome = live.end(END_TIMEOUT_S)
    assert_bad(outcome, r"at 0\.\d s: the recorder was killed \(SIGKILL\)")
    for task in ("estimation", "simulation"):
        record = open_record(live.folder / f"{task}.npy")
        assert np.array_equal(record[f"loop/{task}/cycle"], np.arange(1, len(record) + 1))
        assert len(record) == read_manifest(live.folder).tasks[task].cycles
    assert not [words for words in outcome["reasons"] if "cycles are not" in words], outcome


def test_a_record_that_lacks_cycles_is_bad_whatever_the_recorder_says(start_live):
    live = start_live(None, "--for", "2")
    live.wait_until_it_pushes()
    # no other one can go on with what is no record any more
    record = live.folder / "simulation.npy"
    record.unlink()
    os.kill(live.pid("io_bridge.recording.recorder"), signal.SIGTERM)
    outcome = live.end(END_TIMEOUT_S)
    rows = len(open_record(record))
    cycles = read_manifest(live.folder).tasks["simulation"].cycles
    assert rows < cycles
    assert_bad(outcome, "the recorder has ended before the loop")
    assert_bad(outcome, f"simulation: the record has {rows} of {cycles} cycles")
    assert read_manifest(live.folder).tasks["simulation"].dropped == cycles - rows


def test_a_run_folder_that_is_taken_away_is_made_again_with_the_verdict(start_live):
    live = start_live(None, "--for", "1.5", "--report")
    live.wait_until_it_pushes()
    folder = live.folder
    shutil.rmtree(folder)
    outcome = live.end(END_TIMEOUT_S)
    assert_bad(outcome, "run folder was taken away")
    manifest = read_manifest(folder)
    assert manifest.verdict == "bad"
    assert manifest.tasks["estimation"].cycles > 1000
    assert "No record of estimation" in (folder / "report.html").read_text()


def test_a_table_that_something_else_writes_over_is_a_bad_verdict(start_live):
    live = start_live(None, "--for", "30", "--report")
    live.wait_until_it_pushes()
    with live.table.open("r+b") as file:
        file.write(os.urandom(live.table.stat().st_size))
    outcome = live.end(END_TIMEOUT_S)
    assert_bad(outcome, "another program overwrote the signal table")
    assert read_manifest(live.folder).state == "ended"
    assert (live.folder / "report.html").exists()


@pytest.mark.parametrize("left", [0.0, 0.2, 0.999])
def test_a_table_that_something_else_cuts_short_is_a_bad_verdict(start_live, left):
    """A process that touches a truncated table would be ended by SIGBUS: loop, supervisor, recorder."""
    live = start_live(None, "--for", "30", "--report")
    live.wait_until_it_pushes()
    os.truncate(live.table, int(left * live.table.stat().st_size))
    outcome = live.end(END_TIMEOUT_S)
    assert_bad(outcome, "truncated")
    manifest = read_manifest(live.folder)
    assert manifest.state == "ended"
    assert (live.folder / "report.html").exists()
    # what was recorded until then is whole, and the torque was ramped out
    record = open_record(live.folder / "estimation.npy")
    assert np.all(np.diff(record["loop/estimation/cycle"]) == 1)
    assert json.loads((live.folder / "cycle.json").read_text())["at_rest"]


def test_a_telemetry_port_in_use_is_refused_before_anything_starts(rigloop, make_rig, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        endpoint = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        done = rigloop("run", make_rig(), "--runs", tmp_path / "runs", "--telemetry", endpoint)
    assert done.returncode == 3
    assert f"--telemetry {endpoint}: another process has this port" in done.stderr
    assert not (tmp_path / "runs").exists()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


IN_SMALL_DISK = 'mount -t tmpfs -o size={size} tmpfs "$0" && exec "$@"'


def unshared(folder, size, *command):
    flags = ["--mount"] if os.geteuid() == 0 else ["--user", "--map-root-user", "--mount"]
    script = IN_SMALL_DISK.format(size=size)
    return ["unshare", *flags, "sh", "-c", script, str(folder), *map(str, command)]


@pytest.fixture
def small_disk(tmp_path):
    """Return a function that runs a command where a folder is a small disk."""
    folder = tmp_path / "disk"
    folder.mkdir()
    probe = subprocess.run(unshared(folder, "64k", "true"), capture_output=True, text=True)
    if probe.returncode:
        pytest.skip(f"no mount in a namespace of its own: {probe.stderr.strip()}")

    def run(size, *command):
        return subprocess.run(
            unshared(folder, size, *command), capture_output=True, text=True, timeout=120
        )

    return run


def test_a_full_disk_is_a_bad_verdict_with_manifest_and_report(small_disk, make_rig, tmp_path):
    # the run takes 6 MiB for its verdict; what is left is full within half a second
    run = f"{sys.executable} -m rigloop run {make_rig()} --for 2.5 --runs $0 --json; code=$?"
    kept = tmp_path / "kept"
    keep = f"cp -r $0/* {kept}; exit $code"
    done = small_disk("9m", "sh", "-c", f"{run}; {keep}", tmp_path / "disk")
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    manifest = read_manifest(kept)
    assert_bad({"good": False, "reasons": manifest.reasons}, "cannot be written on: No space left")
    assert_bad({"good": False, "reasons": manifest.reasons}, r"record has \d+ of \d+ cycles")
    assert not [words for words in manifest.reasons if "at rest" in words], manifest.reasons
    assert "No space left" in (kept / "report.html").read_text()
    assert "cannot be written on" in done.stderr


def test_a_disk_without_room_for_a_verdict_is_refused(small_disk, make_rig, tmp_path):
    rig = make_rig()
    command = f"{sys.executable} -m rigloop run {rig} --for 1 --runs $0; code=$?; ls $0; exit $code"
    done = small_disk("3m", "sh", "-c", command, tmp_path / "disk")
    assert done.returncode == 3, done.stderr
    assert "no room for a run's verdict" in done.stderr
    assert "steering" not in done.stdout.splitlines()[-1:]

"""Ctrl-C, SIGTERM and SIGHUP, again and again, at any moment: no traceback, a run folder that is whole or absent."""

import itertools
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from io_bridge.recording.record import open_record
from rigloop.run_folder.manifest import read_manifest

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PACE_S = 0.1
END_TIMEOUT_S = 60

pytestmark = pytest.mark.slow


def imports(live, wait_for):
    """In the middle of what a command imports before it looks at anything, its own handlers in place."""

    def catches_sigterm():
        status = Path(f"/proc/{live.process.pid}/status").read_text()
        (line,) = [line for line in status.splitlines() if line.startswith("SigCgt")]
        return int(line.split()[1], 16) & 1 << (signal.SIGTERM - 1)

    wait_for(catches_sigterm, END_TIMEOUT_S, "handlers of signals")


def commissioning(live, wait_for):
    """The loop is about to start."""
    wait_for(lambda: any(live.runs.glob("*/manifest.json")), END_TIMEOUT_S, "manifest")


def send_until_it_ends(live):
    until = time.monotonic() + END_TIMEOUT_S
    for number in itertools.cycle(SIGNALS):
        if live.process.poll() is not None or time.monotonic() > until:
            break
        live.process.send_signal(number)
        time.sleep(PACE_S)
    stdout, stderr = live.process.communicate(timeout=END_TIMEOUT_S)
    live.wait_until_gone(END_TIMEOUT_S)
    assert "Traceback" not in stderr, stderr
    assert "Aborted" not in stderr, stderr
    return stdout, stderr


def test_before_there_is_a_folder_nothing_is_left(start_live, wait_for):
    live = start_live()
    imports(live, wait_for)
    _, stderr = send_until_it_ends(live)
    assert live.process.returncode == 3
    assert "interrupted" in stderr
    assert not list(live.runs.iterdir())


def test_while_the_loop_starts_the_folder_says_so(start_live, wait_for):
    live = start_live()
    commissioning(live, wait_for)
    stdout, _ = send_until_it_ends(live)
    manifest = read_manifest(live.folder)
    # the loop may have started just before the signal came
    if live.process.returncode == 3:
        assert manifest.state == "not started"
        assert "interrupted" in manifest.reasons[0]
        assert "interrupted" in stdout
    else:
        assert manifest.state == "ended"
    assert manifest.verdict == "bad" or live.process.returncode == 0


def test_through_ramp_verdict_and_report_the_folder_is_completed(start_live):
    live = start_live(None, "--report")
    live.wait_until_it_pushes()
    table = live.table
    stdout, _ = send_until_it_ends(live)
    assert live.process.returncode == 0, stdout
    manifest = read_manifest(live.folder)
    assert (manifest.state, manifest.verdict) == ("ended", "good")
    assert "Good" in (live.folder / "report.html").read_text()
    assert open_record(live.folder / "estimation.npy")["guard/torque_nm"][-1] == 0.0
    assert not table.exists()


def test_a_caller_that_ignores_sighup_is_not_ended_by_it(start_live):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        live = start_live(None, "--for", "0.5")
    finally:
        signal.signal(signal.SIGHUP, before)
    live.wait_until_it_pushes()
    live.process.send_signal(signal.SIGHUP)
    assert live.end(END_TIMEOUT_S)["good"]
    assert read_manifest(live.folder).duration_s >= 0.5


def test_a_terminal_that_is_closed_ends_the_run_as_ctrl_c_does(make_rig, tmp_path, wait_for):
    terminal, ours = pty.openpty()
    command = [sys.executable, "-m", "rigloop", "run", make_rig(), "--runs", tmp_path / "runs"]
    run = subprocess.Popen(
        [str(part) for part in command],
        stdout=ours,
        stderr=ours,
        start_new_session=True,
        # whoever starts the tests may have been told to outlive a terminal
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    )
    os.close(ours)

    def shown():
        return b"RUNNING" in os.read(terminal, 65536)

    try:
        wait_for(shown, END_TIMEOUT_S, "live view")
        os.close(terminal)
        time.sleep(0.3)
        assert run.poll() is None
        run.send_signal(signal.SIGHUP)
        run.wait(END_TIMEOUT_S)
    finally:
        run.kill()
    (folder,) = (tmp_path / "runs").iterdir()
    manifest = read_manifest(folder)
    assert (manifest.state, manifest.verdict) == ("ended", "good"), manifest.reasons
    assert (folder / "report.html").exists()

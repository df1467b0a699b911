"""Runs that are disturbed from outside: what was late and why, which policy acted, and that it is all kept."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from io_bridge.recording.record import open_record
from rigloop.run_folder.late import read_events
from rigloop.run_folder.manifest import read_manifest
from rt_core.lateness.cause import Cause
from rt_core.lateness.trace import CYCLES_BEFORE

pytestmark = pytest.mark.slow

END_TIMEOUT_S = 60
PAUSE_S = 0.08
# ten times slower than it could be, so that a busy machine alone makes no overrun
SLOW = {"tasks.simulation.period_us": "10000", "tasks.estimation.period_us": "1000"}


def pause(pid, times):
    """Take the whole process off its cores, as a host does with a whole machine."""
    with contextlib.suppress(ProcessLookupError):  # it was enough: the run has ended
        for _ in range(times):
            os.kill(pid, signal.SIGSTOP)
            time.sleep(PAUSE_S)
            os.kill(pid, signal.SIGCONT)
            time.sleep(0.2)


def test_overruns_beyond_the_policy_end_the_run_and_are_named(start_live, make_rig):
    policy = {
        "tasks.simulation.overrun": '"safe"',
        "tasks.simulation.overrun_limit": "3",
        "tasks.simulation.overrun_window": "100000",
    }
    live = start_live(make_rig(SLOW | policy))
    live.wait_until_it_pushes()
    pause(live.pid("rigloop.live.cycle"), 4)
    outcome = live.end(END_TIMEOUT_S)
    (reason,) = [r for r in outcome["reasons"] if "overrun_level" in r]
    assert reason.startswith("loop/simulation/overrun_level: overruns worth ")
    assert "limit tasks.simulation.overrun_limit = 3, at cycle " in reason
    assert reason.endswith("(SAFE)")
    assert any("loop/simulation/fault" in r for r in outcome["reasons"])
    record = open_record(live.folder / "simulation.npy")
    at = np.flatnonzero(record["loop/simulation/fault"])[0]
    assert f"at cycle {record['loop/simulation/cycle'][at]:.0f} " in reason
    assert open_record(live.folder / "estimation.npy")["guard/torque_nm"][-1] == 0.0
    facts = read_manifest(live.folder).tasks["simulation"]
    assert sum(facts.causes.values()) == facts.overruns >= 3


def test_the_cycles_around_a_late_one_outlive_a_killed_loop(start_live, make_rig):
    live = start_live(make_rig(SLOW), "--report")
    live.wait_until_it_pushes()
    time.sleep(0.3)
    pause(live.pid("rigloop.live.cycle"), 2)
    os.kill(live.pid("rigloop.live.cycle"), signal.SIGKILL)
    live.end(END_TIMEOUT_S)
    events = [
        event
        for event in read_events(live.folder, "simulation")
        if event.excess_ns >= 1e9 * PAUSE_S - 11e6
    ]
    assert len(events) >= 2
    for event in events:
        # between two cycles or in the middle of one
        assert event.cause in (Cause.LATE_WAKE, Cause.STOLEN)
        assert event.at == CYCLES_BEFORE
        assert np.all(np.diff(event.rows["cycle"]) == 1)
    page = (live.folder / "report.html").read_text()
    assert "Why was it late?" in page
    assert "simulation, cycle" in page


HOLD = """
import ctypes, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
SEIZE, INTERRUPT = 0x4206, 0x4207
thread = int(sys.argv[1])
held = libc.ptrace(SEIZE, thread, None, None) == 0 and libc.ptrace(INTERRUPT, thread, None, None) == 0
print(int(held), flush=True)
# it goes on when this process ends
time.sleep(3 if held else 0)
"""


def test_a_thread_that_stands_still_is_the_watchdogs(start_live, make_rig):
    live = start_live(make_rig({"tasks.estimation.stall_cycles": "1000"}))
    live.wait_until_it_pushes()
    cycle = live.pid("rigloop.live.cycle")
    (thread,) = [
        tid
        for tid in os.listdir(f"/proc/{cycle}/task")
        if Path(f"/proc/{cycle}/task/{tid}/comm").read_text().strip() == "rt:estimation"
    ]
    # the net below the watchdog: a FIFO thread that never sleeps again; two seconds more than the longest stall allowed
    limits = Path(f"/proc/{cycle}/limits").read_text()
    run_time = re.search(r"Max realtime timeout +(\S+)", limits)[1]
    with subprocess.Popen([sys.executable, "-c", HOLD, thread], stdout=subprocess.PIPE) as holder:
        if holder.stdout.readline().strip() != b"1":
            live.process.terminate()
            pytest.skip("no right to stop a thread of another process")
        outcome = live.end(END_TIMEOUT_S)
    if read_manifest(live.folder).real_time:
        assert run_time == "4000000"
    (reason,) = [r for r in outcome["reasons"] if r.startswith("watchdog:")]
    assert "loop/estimation/cycle: task estimation stalled at cycle " in reason
    assert "limit stall_cycles = 1000" in reason
    assert "frames with safe outputs sent in its place" in reason
    assert not any("at rest" in r for r in outcome["reasons"])
    record = open_record(live.folder / "estimation.npy")
    stalled_at = int(reason.partition("at cycle ")[2].partition(":")[0])
    assert stalled_at - 1 <= record["loop/estimation/cycle"][-1] <= stalled_at + 1
    live.wait_until_gone(END_TIMEOUT_S)


def test_a_spin_is_measured_where_the_rig_leaves_it_open(make_rig, run_to_end, tmp_path):
    core = str(max(os.sched_getaffinity(0)))
    rig = make_rig({"tasks.estimation.core": core, "tasks.estimation.spin_us": '"auto"'})
    done = run_to_end(rig, tmp_path, "--for", "0.5")
    assert done.code == 0, done
    facts = read_manifest(done.folder).tasks
    assert " µs, from a p99.9 of " in facts["estimation"].spin
    # two seconds of wakes at the task's own period, less those that were slept through
    assert "in 10000 wakes" in facts["estimation"].spin
    assert facts["simulation"].spin == ""

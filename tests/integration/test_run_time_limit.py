"""RLIMIT_RTTIME, the last net: the kernel ends a process whose FIFO thread never sleeps. No watchdog helps here."""

import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from fifo_priority import may_be_fifo

from rigloop.soak.processes import processes_of_run

pytestmark = pytest.mark.slow

PROGRAM = """
import os, resource, sys
from rt_core.injection.load import BusyBlock
from rt_core.loop.loop import Loop
from rt_core.plan import Task, plan_table
from rt_core.signals.table import SignalTable

MS = 1_000_000
path, burn_ns, every, limit_us = sys.argv[1], *map(int, sys.argv[2:])
try:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(80))
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
except PermissionError:
    os._exit(77)
if limit_us:
    resource.setrlimit(resource.RLIMIT_RTTIME, (limit_us, resource.RLIM_INFINITY))
task = Task("t", [BusyBlock("busy", burn_ns, every=every, first=20)], 5 * MS, priority=80)
plan = plan_table([task])
loop = Loop(plan, SignalTable.create(path, plan), fifo=True)
loop.start()
loop.wait(0.6)
print(int(loop.table.value("loop/t/cycle")), flush=True)
os._exit(0)
"""
LIMIT_US = 20_000
HANGS, WORKS = (1 << 60, 1), (12_000_000, 4)


def run(tmp_path, burn, limit_us):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, tmp_path / "table", *map(str, burn), str(limit_us)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    if done.returncode == 77:
        pytest.skip("no FIFO priority here")
    return done


def test_a_thread_that_never_sleeps_ends_with_its_process(tmp_path):
    done = run(tmp_path, HANGS, LIMIT_US)
    assert done.returncode == -signal.SIGXCPU, done
    assert done.stdout == ""


def test_it_is_the_limit_that_ends_it(tmp_path):
    done = run(tmp_path, HANGS, 0)
    assert done.returncode == 0, done
    # the cycle that hangs is never published
    assert int(done.stdout) == 20


def test_a_thread_that_sleeps_between_long_cycles_lives(tmp_path):
    # twice the limit and more in all, 12 ms of the 20 at a time
    done = run(tmp_path, WORKS, LIMIT_US)
    assert done.returncode == 0, done
    assert int(done.stdout) > 30


def test_a_run_has_the_limit_in_its_cycle_process(start_live):
    live = start_live()
    live.wait_until_it_pushes()
    cycle = processes_of_run(live.process.pid)["cycle"]
    soft, hard = resource.prlimit(cycle, resource.RLIMIT_RTTIME)
    (line,) = [
        line
        for line in Path(f"/proc/{cycle}/limits").read_text().splitlines()
        if "realtime timeout" in line
    ]
    live.process.send_signal(signal.SIGINT)
    live.end(30)
    if not may_be_fifo():
        pytest.skip("no FIFO priority here")
    # beyond what the watchdog allows the tasks of this rig, and 2 s
    assert 2_000_000 < soft < 5_000_000
    assert str(soft) in line
    assert soft <= hard or hard == resource.RLIM_INFINITY

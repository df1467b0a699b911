"""Late cycles of the live loop: each gets the cause that it was given, and keeps the cycles around it."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from fifo_priority import may_be_fifo
from script_paths import where_parts_are

from rt_core.injection.load import BusyBlock
from rt_core.lateness.cause import Cause
from rt_core.lateness.trace import (
    CYCLES_AFTER,
    CYCLES_BEFORE,
    EVENTS_KEPT,
    FIRST_KEPT,
    NEWEST_KEPT,
    WORST_KEPT,
)
from rt_core.loop.loop import Loop
from rt_core.plan import Task, plan_table
from rt_core.signals.table import RingReader, SignalTable

pytestmark = pytest.mark.slow

MS = 1_000_000
CAUSES = Path(__file__).parents[3] / "benchmarks" / "causes.py"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "table"


FIFO = may_be_fifo()


def wait_for_cycles(table, loop, cycles):
    """Wait for cycles, not for a time: the host may take any part of a time."""
    while table.value("loop/t/cycle") < cycles:
        assert not loop.wait(0.01)


def run(tasks, path, cycles):
    """Run a loop until its first task has made so many cycles; return those of each task, and its late events."""
    plan = plan_table(tasks)
    with SignalTable.create(path, plan) as table:
        readers = {task.name: RingReader(table, task.name) for task in tasks}
        with Loop(plan, table, fifo=FIFO) as loop:
            wait_for_cycles(table, loop, cycles)
        rows = {name: reader.drain() for name, reader in readers.items()}
        events = table.late_events(tasks[0].name)
        for reader in readers.values():
            reader.close()
    return rows, events


LONG = 12 * MS
# a shared host takes the core away at will: that is then a cause too, and a rightly told one
MOST = 0.8
needs_fifo = pytest.mark.skipif(not FIFO, reason="no FIFO priority here")


@needs_fifo
def test_every_injected_overrun_gets_the_cause_that_was_injected(tmp_path):
    # the proof at its full length is the same command without --quick
    done = subprocess.run(
        [sys.executable, CAUSES, "--quick", "--json", tmp_path / "causes.json"],
        capture_output=True,
        text=True,
        timeout=120,
        env=where_parts_are(CAUSES),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "causes.json").read_text())
    assert found["injected"] == len(found["cycles"])
    assert found["without_cause"] == 0
    (own, n_own), (stolen, n_stolen), (others, n_others) = found["shares"].values()
    assert own >= 0.95 * n_own
    assert stolen <= 0.05 * n_stolen
    assert others == n_others
    assert min(n_own, n_stolen, n_others) >= 20
    told = Counter(cycle["told"] for cycle in found["cycles"])
    assert {"own work", "bus", "late wake", "stolen"} <= set(told)


@needs_fifo
def test_periods_lost_before_the_begin_are_no_cause_of_what_comes_after(path):
    # the higher task makes a cycle five periods late, and then that cycle takes one period and a half
    core = min(os.sched_getaffinity(0))
    low = Task("t", [BusyBlock("busy", 3 * MS, every=2, first=40)], 2 * MS, priority=70, core=core)
    # two rhythms, so that the late cycle is now one that works, now one that does not
    hogs = [
        BusyBlock("hog", 10 * MS, every=40, first=100),
        BusyBlock("other_hog", 10 * MS, every=47, first=120),
    ]
    rows, _ = run([low, Task("high", hogs, MS, priority=80, core=core)], path, 1200)
    rows = rows["t"]
    # of what it took, less was taken away than it worked
    undisturbed = rows["busy/burned_ns"] - rows["busy/cpu_ns"] < MS
    both = (rows["loop/t/late_ns"] > 6 * MS) & (rows["busy/cpu_ns"] > 2 * MS) & undisturbed
    before, after = rows["loop/t/cause"][:-1][both[:-1]], rows["loop/t/cause"][1:][both[:-1]]
    assert len(after) >= 5
    # a host that has the core while the thread is awake is told as that
    assert np.mean(np.isin(before, (Cause.LATE_WAKE, Cause.STOLEN))) >= MOST
    assert np.mean(after == Cause.OWN) >= MOST


def test_a_late_cycle_keeps_the_cycles_around_it(path):
    block = BusyBlock("busy", LONG, every=100, first=50)
    rows, (opened, events) = run(
        [Task("t", [block, BusyBlock("small", 0)], 5 * MS, late_limit_ns=4 * MS)], path, 200
    )
    assert opened >= len(events) >= 1
    rows = rows["t"]
    cycle = rows["loop/t/cycle"]
    found = False
    # the host may add a late cycle at any time; one that begins an event ends the event before it
    begins = [records["cycle"][at] for at, records in events]
    reported = {number for at, records in events for number in records["cycle"][at:]}
    for at, records in events:
        assert np.all(np.diff(records["cycle"]) == 1)
        assert records["cause"][at] != 0
        # a late one before it is of an event that is over
        assert set(records["cycle"][:at][records["cause"][:at] != 0]) <= reported
        same = rows[np.searchsorted(cycle, records["cycle"])]
        assert np.array_equal(same["loop/t/elapsed"], records["elapsed"])
        assert np.all(np.abs(same["loop/t/late_ns"] - records["late_ns"]) <= 1)
        # rows tell both blocks together
        assert np.array_equal(same["loop/t/step_ns"], records["stage_ns"].sum(axis=1))
        assert np.all(records["wall_ns"] >= records["stage_ns"].sum(axis=1))
        if records["stage_ns"][at, 0] >= 12 * MS:
            found = True
            assert at == CYCLES_BEFORE
            assert (
                len(records) == CYCLES_BEFORE + 1 + CYCLES_AFTER
                or records["cycle"][-1] + 1 in begins
                or records is events[-1][1]
            )
    assert found


def test_events_beyond_those_kept_are_counted(path):
    block = BusyBlock("busy", 600_000, every=40, first=0)
    rows, (opened, events) = run([Task("t", [block], MS // 2)], path, 5500)
    assert opened > EVENTS_KEPT
    # one cause is nearly all of them: it has no more places than the others, and all of its own are in use
    of_own = [rows for at, rows in events if rows["cause"][at] in (Cause.OWN, Cause.UNTOLD)]
    assert FIRST_KEPT + WORST_KEPT + NEWEST_KEPT <= len(of_own) <= len(events) <= EVENTS_KEPT
    assert opened >= rows["t"]["loop/t/overruns"][-1] / (CYCLES_AFTER + 1)


def test_without_explanations_overruns_are_still_counted(path):
    plan = plan_table([Task("t", [BusyBlock("busy", 1_500_000)], MS)])
    with SignalTable.create(path, plan) as table:
        with Loop(plan, table, explains=False) as loop:
            wait_for_cycles(table, loop, 20)
        assert table.value("loop/t/overruns") > 10
        assert table.value("loop/t/cause") == Cause.NONE
        assert table.late_events("t") == (0, [])

"""Late cycles of the live loop: each gets the cause that it was given, and keeps the cycles around it."""

import os

import numpy as np
import pytest

from rt_core.cause import Cause
from rt_core.load import BusyBlock
from rt_core.loop import Loop
from rt_core.plan import Task, plan_table
from rt_core.table import RingReader, SignalTable
from rt_core.trace import CYCLES_AFTER, CYCLES_BEFORE, EVENTS_KEPT

MS = 1_000_000


@pytest.fixture
def path(tmp_path):
    return tmp_path / "table"


def may_be_fifo():
    policy, param = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(80))
    except PermissionError:
        return False
    os.sched_setscheduler(0, policy, param)
    return True


FIFO = may_be_fifo()


def run(tasks, path, seconds):
    """Run a loop; return the cycles of each task, and the late events of the first."""
    plan = plan_table(tasks)
    with SignalTable.create(path, plan) as table:
        readers = {task.name: RingReader(table, task.name) for task in tasks}
        with Loop(plan, table, fifo=FIFO) as loop:
            loop.wait(seconds)
        rows = {name: reader.drain() for name, reader in readers.items()}
        events = table.late_events(tasks[0].name)
        for reader in readers.values():
            reader.close()
    return rows, events


def causes_after(rows, burned):
    """Causes that were given to the overruns right after burnt cycles."""
    after = np.flatnonzero(rows[burned][:-1] >= LONG) + 1
    return rows["loop/t/cause"][after]


LONG = 12 * MS
# a shared host takes the core away at will: that is then a cause too, and a rightly told one
MOST = 0.8
needs_fifo = pytest.mark.skipif(not FIFO, reason="no FIFO priority here")


@needs_fifo
def test_own_work_beyond_the_period_is_own(path):
    rows, _ = run([Task("t", [BusyBlock("busy", LONG, every=4, first=40)], 5 * MS)], path, 2)
    causes = causes_after(rows["t"], "busy/burned_ns")
    assert len(causes) >= 50
    assert np.mean(causes == Cause.OWN) >= MOST


@needs_fifo
def test_a_long_bus_exchange_is_the_bus(path):
    blocks = [BusyBlock("wire", LONG, every=4, first=40), BusyBlock("work", 100_000)]
    rows, _ = run([Task("t", blocks, 5 * MS, bus=("wire",))], path, 2)
    causes = causes_after(rows["t"], "wire/burned_ns")
    assert len(causes) >= 50
    assert np.mean(causes == Cause.BUS) >= MOST


@needs_fifo
def test_a_core_that_another_has_is_a_late_wake_or_stolen(path):
    # the higher task does to the lower one what a host does: before its deadline, or in the middle of its work
    core = min(os.sched_getaffinity(0))
    low = Task("t", [BusyBlock("work", 4 * MS)], 5 * MS, priority=70, core=core)
    # five periods and a half and a bit: every second one begins in the middle of the low task's period
    hog = BusyBlock("hog", 14 * MS, every=10, first=21)
    high = Task("high", [hog], 5 * MS // 2, priority=80, core=core)
    rows, _ = run([low, high], path, 4)
    told = {Cause.LATE_WAKE: [], Cause.STOLEN: []}
    hogs = rows["high"][rows["high"]["hog/burned_ns"] >= LONG]
    for t_ns in hogs["t_ns"][:-1]:
        row = rows["t"][np.searchsorted(rows["t"]["t_ns"], t_ns)]
        truth = Cause.STOLEN if t_ns % (5 * MS) else Cause.LATE_WAKE
        told[truth].append(row["loop/t/cause"])
    for truth, causes in told.items():
        assert len(causes) >= 15
        assert np.mean(np.array(causes) == truth) >= MOST, truth


def test_a_late_cycle_keeps_the_cycles_around_it(path):
    block = BusyBlock("busy", LONG, every=100, first=50)
    rows, (opened, events) = run(
        [Task("t", [block, BusyBlock("small", 0)], 5 * MS, late_limit_ns=4 * MS)], path, 1.5
    )
    assert opened >= len(events) >= 1
    rows = rows["t"]
    cycle = rows["loop/t/cycle"]
    found = False
    for at, records in events:
        assert np.all(np.diff(records["cycle"]) == 1)
        assert records["cause"][at] != 0
        assert np.all(records["cause"][:at] == 0) or at < CYCLES_BEFORE
        same = rows[np.searchsorted(cycle, records["cycle"])]
        assert np.array_equal(same["loop/t/elapsed"], records["elapsed"])
        assert np.all(np.abs(same["loop/t/late_ns"] - records["late_ns"]) <= 1)
        # rows tell both blocks together
        assert np.array_equal(same["loop/t/step_ns"], records["stage_ns"].sum(axis=1))
        assert np.all(records["wall_ns"] >= records["stage_ns"].sum(axis=1))
        if records["stage_ns"][at, 0] >= 12 * MS:
            found = True
            assert at == CYCLES_BEFORE
            assert len(records) == CYCLES_BEFORE + 1 + CYCLES_AFTER or records is events[-1][1]
    assert found


def test_events_beyond_those_kept_are_counted(path):
    block = BusyBlock("busy", 600_000, every=40, first=0)
    rows, (opened, events) = run([Task("t", [block], MS // 2)], path, 3.0)
    assert opened > EVENTS_KEPT
    assert len(events) == EVENTS_KEPT
    assert opened >= rows["t"]["loop/t/overruns"][-1] / (CYCLES_AFTER + 1)


def test_without_explanations_overruns_are_still_counted(path):
    plan = plan_table([Task("t", [BusyBlock("busy", 1_500_000)], MS)])
    with SignalTable.create(path, plan) as table:
        with Loop(plan, table, explains=False) as loop:
            loop.wait(0.2)
        assert table.value("loop/t/overruns") > 10
        assert table.value("loop/t/cause") == Cause.NONE
        assert table.late_events("t") == (0, [])

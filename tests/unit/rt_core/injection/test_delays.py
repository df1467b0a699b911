"""The delays of proofs: as long as asked, of their kind, and only then."""

import time
from pathlib import Path

import numpy as np
import pytest

from rt_core.injection.delays import KINDS, DelayBlock, HoleBlock, PageBlock
from rt_core.injection.load import BusyBlock
from rt_core.lateness.cause import Cause
from rt_core.loop.loop import Loop
from rt_core.loop.offline import Offline
from rt_core.plan import Task, plan_table
from rt_core.signals.table import SignalTable

MS = 1_000_000


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_delay_is_as_long_as_asked_in_the_chosen_steps(kind):
    offline = Offline(
        plan_table([Task("t", [DelayBlock("d", kind, 2 * MS, every=4, first=2)], 1000)])
    )
    burned_ns = offline.run("t", np.arange(11) * 1000)["t"][
        :, offline.paths("t").index("d/burned_ns")
    ]
    assert np.all(burned_ns[[2, 6, 10]] >= 2 * MS)
    assert np.median(np.delete(burned_ns, [2, 6, 10])) < MS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "column", "differs"),
    [
        ("iterations", "stage_work", True),
        ("slow block", "stage_work", False),
        ("denormals", "denormals", True),
        ("page faults", "faults", True),
        ("slow block", "denormals", False),
        ("cold caches", "stage_work", False),
    ],
)
def test_the_trace_of_a_late_cycle_has_the_facts(tmp_path, kind, column, differs):
    # periods so long that nothing but the delay makes a cycle late
    block = DelayBlock("d", kind, 60 * MS, every=1000, first=20)
    plan = plan_table([Task("t", [block], 20 * MS)])
    with SignalTable.create(str(tmp_path / "table"), plan) as table:
        with Loop(plan, table) as loop:
            loop.wait(0.7)
        _, events = table.late_events("t")
    rows = next(rows for at, rows in events if rows["stage_ns"][at, 0] >= 60 * MS)
    late = rows["stage_ns"][:, 0] >= 60 * MS
    values = rows[column][:, 0] if column == "stage_work" else rows[column]
    if column != "faults":
        assert len(set(values[~late].tolist())) == 1
    assert (values[late][0] > values[~late].max()) == differs


@pytest.mark.slow
def test_a_hole_is_no_work_of_the_block_that_it_hits(tmp_path):
    # it falls into a block that works nearly all the time
    hole = HoleBlock("hole")
    plan = plan_table([Task("t", [hole, BusyBlock("work", 30 * MS)], 40 * MS)])
    with SignalTable.create(str(tmp_path / "table"), plan) as table:
        with Loop(plan, table) as loop:
            loop.wait(1.2)
            struck_ns = time.monotonic_ns() - loop.start_ns
            hole.strike(thread_of("t"), 120 * MS)
            loop.wait(0.5)
        _, events = table.late_events("t")
    # others that a busy machine makes late are not this one
    near = [
        rows[at]
        for at, rows in events
        if struck_ns - 80 * MS <= rows[at]["deadline_ns"] <= struck_ns + 160 * MS
    ]
    row = max(near, key=lambda row: max(row["wall_ns"], row["late_ns"]))
    assert row["wall_ns"] >= 120 * MS or row["late_ns"] >= 100 * MS
    assert Cause(int(row["cause"])) in (Cause.UNTOLD, Cause.STOLEN, Cause.LATE_WAKE)


def thread_of(task):
    """Return the kernel's number of a task's thread."""
    for thread in Path("/proc/self/task").iterdir():
        if (thread / "comm").read_text().strip() == f"rt:{task}":
            return int(thread.name)
    raise LookupError(task)


def test_wrong_settings_are_refused():
    with pytest.raises(ValueError, match="must be one of iterations"):
        DelayBlock("d", "magic", 1)
    with pytest.raises(ValueError, match="every = 0"):
        DelayBlock("d", "slow block", 1, every=0)
    with pytest.raises(ValueError, match="n = 0"):
        PageBlock("p", 0)

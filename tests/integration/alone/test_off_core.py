"""A thread that is not on its core: found, counted, and a fault where the task says so."""

import os

import numpy as np
import pytest

from rt_core.injection.inject import Act, InjectionBlock
from rt_core.injection.load import BusyBlock
from rt_core.loop.loop import Loop
from rt_core.plan import FAULT_OFF_CORE, OFF_CORE_EVERY, Task, plan_table
from rt_core.signals.table import RingReader, SignalTable

PERIOD_NS = 200_000
CORES = sorted(os.sched_getaffinity(0))


def run(tmp_path, *, moved, off_core="count"):
    """Let a pinned task run for a good two looks; return its record."""
    task = Task("fast", [BusyBlock("busy", 0)], PERIOD_NS, core=CORES[-1], off_core=off_core)
    if moved:
        mover = InjectionBlock(
            "mover",
            Act.MOVE,
            task=task,
            arm="supervisor/arm",
            own_cycle="loop/fast/cycle",
            at_s=0.01,
        )
        task = Task("fast", [mover], PERIOD_NS, core=CORES[-1], off_core=off_core)
    plan = plan_table([task], ["supervisor/arm"])
    with SignalTable.create(tmp_path / "table", plan) as table:
        ring = RingReader(table, "fast")
        with Loop(plan, table) as loop:
            table.publish({"supervisor/arm": 1.0})
            while table.value("loop/fast/cycle") < 2.5 * OFF_CORE_EVERY:
                assert not loop.wait(0.05)
        rows = ring.drain(1 << 16)
        ring.close()
        table.close(unlink=True)
    return rows


@pytest.mark.skipif(len(CORES) < 2, reason="one core")
@pytest.mark.parametrize("off_core", ["count", "safe"])
def test_a_thread_that_was_moved_is_found_at_the_next_look(tmp_path, off_core):
    rows = run(tmp_path, moved=True, off_core=off_core)
    cycle, seen = rows["loop/fast/cycle"], rows["loop/fast/off_core"]
    first = int(np.flatnonzero(seen)[0])
    assert cycle[first] % OFF_CORE_EVERY == 0
    assert cycle[first] - rows["mover/cycle"][-1] <= OFF_CORE_EVERY
    fault = np.unique(rows["loop/fast/fault"][first:])
    assert list(fault) == [FAULT_OFF_CORE if off_core == "safe" else 0]
    assert not np.any(rows["loop/fast/fault_block"])


def test_a_thread_on_its_core_is_never_found_elsewhere(tmp_path):
    rows = run(tmp_path, moved=False, off_core="safe")
    assert rows["loop/fast/cycle"][-1] > 2 * OFF_CORE_EVERY
    assert not np.any(rows["loop/fast/off_core"])
    assert not np.any(rows["loop/fast/fault"])

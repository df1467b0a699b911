"""Views of a ring: rows as its consumer has them, and those that were written over in between are counted."""

import numpy as np
import pytest

from rt_core.injection.load import BusyBlock
from rt_core.loop.loop import Loop
from rt_core.plan import Task, plan_table
from rt_core.signals.layout import TableError
from rt_core.signals.ring_view import RingView
from rt_core.signals.table import RingReader, SignalTable

CYCLE = "loop/fast/cycle"
SLOTS = 64


@pytest.fixture
def plan():
    task = Task("fast", [BusyBlock("busy", 0)], 1_000_000, ring_slots=SLOTS)
    return plan_table([task], ("supervisor/heartbeat",))


@pytest.fixture
def table(plan, tmp_path):
    with SignalTable.create(tmp_path / "table", plan) as table:
        yield table


def test_it_sees_what_the_consumer_takes_and_counts_what_was_written_over(plan, table):
    taken = []

    def drained_to(cycles):
        while sum(map(len, taken)) < cycles:
            taken.append(ring.drain())
            loop.wait(0.001)

    with SignalTable.attach(table.path) as other, RingView(other, "fast") as view:
        ring = RingReader(table, "fast")
        with Loop(plan, table) as loop:
            drained_to(20)
            first, lost = view.take()
            drained_to(20 + 3 * SLOTS)
            loop.stop()
        later, lost_later = view.take()
        taken.append(ring.drain())
        whole = np.concatenate(taken)
        assert lost == 0
        assert first.tobytes() == whole[: len(first)].tobytes()
        assert lost_later > 0
        assert len(first) + lost_later + len(later) == view.next_row == len(whole)
        assert later.tobytes() == whole[len(first) + lost_later :].tobytes()
        with RingView(other, "fast", [CYCLE]) as after:
            assert after.dtype.names == ("t_ns", CYCLE)
            # one that comes later begins with what the ring still has
            assert after.take()[0][CYCLE].tolist() == later[CYCLE].tolist()
            assert after.take()[0].shape == (0,)
        ring.close()


def test_a_view_takes_nothing_out_of_the_ring_and_keeps_the_table_open(table):
    view, ring = RingView(table, "fast"), RingReader(table, "fast")
    assert ring.counters()["consumed"] == 0
    ring.close()
    with pytest.raises(RuntimeError, match="in use"):
        table.close()
    view.close()
    view.close()
    with pytest.raises(TableError, match="closed"):
        view.take()


def test_what_is_not_in_the_rows_is_refused(table):
    with pytest.raises(KeyError, match="a/b"):
        RingView(table, "fast", ["a/b"])
    with pytest.raises(TableError, match="no ring"):
        RingView(table, "supervisor")
    with pytest.raises(KeyError, match="slow"):
        RingView(table, "slow")
    table.close()  # nothing holds it

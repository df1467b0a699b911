"""A rehearsal steps every task in its turn, shows each what the others wrote, and times each block."""

import numpy as np
import pytest
from reading_block import Reader

from rt_core.injection.load import BusyBlock
from rt_core.plan import Task, plan_table
from rt_core.timing.rehearse import Rehearsal

FAST_NS, SLOW_NS = 100_000, 300_000


@pytest.fixture
def rehearsal():
    fast = Task(
        "fast", [BusyBlock("busy", 20_000), Reader("eyes", ["supervisor/arm"])], period_ns=FAST_NS
    )
    slow = Task("slow", [Reader("other", ["busy/burned_ns", "given/value"])], period_ns=SLOW_NS)
    given = Task("given", [], period_ns=FAST_NS, inputs=("given/value",))
    return Rehearsal(plan_table([fast, slow, given], ["supervisor/arm"]))


def test_each_task_has_its_cycles_and_each_block_its_times(rehearsal):
    took = rehearsal.run(30, {})
    assert {name: times.shape for name, times in took.items()} == {
        "fast": (30, 3),
        "slow": (10, 2),
        "given": (30, 1),
    }
    assert np.all(took["fast"][:, 0] >= 20_000)
    assert np.all(took["fast"][:, -1] > 0)


def test_cycles_go_on_from_run_to_run(rehearsal):
    assert [len(rehearsal.run(4, {})["slow"]) for _ in range(3)] == [2, 1, 1]


def test_signals_are_given_to_those_who_read_them(rehearsal):
    rehearsal.run(6, {"supervisor/arm": 1.0, "given/value": 7.0})
    with pytest.raises(ValueError, match="tuple"):
        rehearsal.run(1, {"supervisor/none": 1.0})

"""Lost cycles of benchmarks/live_task_sets.py: those of a set's own making, and those that a host took."""

import sys
from pathlib import Path

import numpy as np
import pytest

from rt_core.plan import loop_signal
from rt_core.timing.response import Load

FOLDER = Path(__file__).parents[3] / "benchmarks"
MS = 1_000_000
PAIR = [Load("fast", 2 * MS, MS, 90, 0), Load("slow", 4 * MS, MS, 80, 0)]


@pytest.fixture(scope="module", autouse=True)
def parts():
    sys.path.insert(0, str(FOLDER))
    yield
    sys.path.remove(str(FOLDER))


def rows_of(load, lost, **counts):
    """The rows of a task that has lost these periods; `counts` of overruns are there in the last row alone."""
    from live_task_sets import CAUSES, LEAST_NS

    kept = [k for k in range(2 + LEAST_NS // load.period_ns) if k not in lost]
    names = [loop_signal(load.name, f"overruns_{cause}") for cause in CAUSES]
    rows = np.zeros(len(kept), dtype=[("t_ns", "i8"), *((name, "f8") for name in names)])
    rows["t_ns"] = np.multiply(kept, load.period_ns)
    for cause, n in counts.items():
        rows[loop_signal(load.name, f"overruns_{cause}")][-4:] = n
    return rows


def judged(**lost):
    from live_task_sets import judged

    return judged(
        {load.name: rows_of(load, **lost.get(load.name, {"lost": ()})) for load in PAIR}, PAIR
    )


def test_a_set_that_loses_nothing_has_nothing_of_its_own():
    found = judged()
    assert (found.own, found.cycles) == (0, 200 + 100)
    assert not +found.others


def test_a_place_that_is_lost_again_and_again_is_the_sets_own():
    every_second = range(3, 200, 2)
    assert judged(fast={"lost": every_second, "stolen": 90.0}).own == 1


def test_what_the_host_takes_here_and_there_is_told_by_cause():
    found = judged(slow={"lost": (7, 8, 40), "stolen": 2.0, "late_wake": 1.0})
    assert found.own == 0
    assert +found.others == {"stolen": 2, "late_wake": 1}


def test_what_the_loop_calls_its_own_is_so_wherever_it_lies():
    assert judged(slow={"lost": (7,), "own": 1.0}).own == 1


def test_what_is_lost_before_the_schedule_has_come_back_once_is_not_looked_at():
    assert judged(fast={"lost": (0, 1)}).own == 0

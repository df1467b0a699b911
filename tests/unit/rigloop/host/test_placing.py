"""Processors for a service and a page: never those of the rig while there are others."""

import os
import threading

import pytest

from rigloop.host.placing import on_processors, processors_beside, stay_beside
from rigloop.protocol.description import DescribedTask


def tasks(*given):
    return [
        DescribedTask(f"t{k}", period_us, [], core) for k, (core, period_us) in enumerate(given)
    ]


@pytest.mark.parametrize(
    ("given", "allowed", "found"),
    [
        ([(0, 200), (1, 1000)], {0, 1, 2, 3}, {2, 3}),
        ([(0, 200), (None, 1000)], {0, 1}, {1}),
        # all are taken: that of the slowest task; a core is as fast as its fastest task
        ([(0, 200), (1, 1000)], {0, 1}, {1}),
        ([(0, 200), (0, 5000), (1, 1000)], {0, 1}, {1}),
        ([(0, 1000), (1, 1000)], {0, 1}, {0, 1}),
        ([(0, 200)], {0}, {0}),
        ([(None, 200)], {0, 1}, {0, 1}),
        # a core of the rig's that this process may not use anyway
        ([(5, 200)], {0, 1}, {0, 1}),
        ([], {0, 1}, {0, 1}),
    ],
)
def test_processors_are_those_without_a_task_or_those_of_the_slowest(given, allowed, found):
    assert processors_beside(tasks(*given), allowed) == found


def test_what_stays_beside_a_rig_is_not_on_its_processor():
    allowed = sorted(os.sched_getaffinity(0))
    found = {}
    # the processors of a thread are its own
    thread = threading.Thread(
        target=lambda: found.update(now=stay_beside(tasks((allowed[0], 200))))
    )
    thread.start()
    thread.join()
    assert found["now"] == (set(allowed[1:]) or set(allowed))
    assert sorted(os.sched_getaffinity(0)) == allowed


def test_a_thread_returns_to_its_processors():
    before = os.sched_getaffinity(0)
    one = {min(before)}
    with on_processors(one):
        assert os.sched_getaffinity(0) == one
    assert os.sched_getaffinity(0) == before


def test_processors_that_the_system_does_not_give_are_passed_over():
    before = os.sched_getaffinity(0)
    with on_processors({4095}):
        assert os.sched_getaffinity(0) == before
    assert os.sched_getaffinity(0) == before

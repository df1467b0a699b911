"""A block that does wrong on purpose: when it acts, on what, and what it refuses to be."""

import os

import numpy as np
import pytest

from rt_core.injection.inject import Act, InjectionBlock
from rt_core.injection.load import BusyBlock
from rt_core.loop.offline import Offline
from rt_core.plan import Task, plan_table

MS = 1_000_000
N = 40
ARMED = 5  # cycle in which `arm` is seen first
CELL = "in/count"


def made(act, **options):
    task = Task("fast", [], MS, core=options.pop("core", None))
    options = {
        "at_s": 0.01,
        "cells": [CELL] if act in (Act.SET, Act.ADD, Act.KEEP, Act.SCALE) else [],
    } | options
    return InjectionBlock(
        "wrong", act, task=task, arm="in/arm", own_cycle="loop/fast/cycle", **options
    )


def run(block, arm=None):
    """Step it in a task, armed from cycle 5 on; return its image by path."""
    task = Task("fast", [block], MS, inputs=("in/arm", CELL))
    offline = Offline(plan_table([task]))
    arm = (np.arange(N) >= ARMED if arm is None else arm).astype(float)
    forced = {"in/arm": arm, CELL: np.full(N, 7.0)}
    image = offline.run("fast", MS * np.arange(N), forced=forced)["fast"]
    return dict(zip(offline.paths("fast"), image.T, strict=True))


def test_it_acts_at_its_time_after_arming_for_as_many_cycles_as_asked():
    seen = run(made(Act.SET, cycles=3, value=-1.0))
    expected = np.full(N, 7.0)
    expected[15:18] = -1.0
    assert np.array_equal(seen[CELL], expected)
    assert np.array_equal(np.flatnonzero(seen["wrong/acting"]), [15, 16, 17])


def test_its_first_cycle_stays_readable():
    seen = run(made(Act.SET, value=0.0))
    assert np.array_equal(np.unique(seen["wrong/cycle"]), [0, 16])
    assert seen["wrong/cycle"][15] == 16


def test_zero_cycles_are_all_to_the_end():
    seen = run(made(Act.ADD, cycles=0, value=0.5))
    assert np.all(seen[CELL][:15] == 7.0)
    assert np.all(seen[CELL][15:] == 7.5)


UP = np.isin(np.arange(N) // 8, [0, 2, 4])  # armed from cycles 0, 16 and 32 on, for eight each


@pytest.mark.parametrize(
    ("arming", "cycles", "acts"),
    [
        (0, 0, range(3, N)),
        (1, 0, range(3, 8)),
        (2, 0, range(19, 24)),
        (3, 2, range(35, 37)),
        (4, 0, range(0)),
    ],
)
def test_of_a_series_it_acts_in_its_own_arming_alone(arming, cycles, acts):
    seen = run(made(Act.SET, at_s=0.003, cycles=cycles, value=-1.0, arming=arming), UP)
    assert np.flatnonzero(seen["wrong/acting"]).tolist() == list(acts)
    assert np.flatnonzero(seen[CELL] == -1.0).tolist() == list(acts)


def test_an_order_of_a_series_is_taken_back_with_its_arming():
    cell = np.zeros(1)
    options = {"at_s": 0.003, "cycles": 0, "value": 3.0, "arming": 2}
    block = made(Act.ORDER, order=cell.ctypes.data, keep=cell, **options)
    task = Task("fast", [block], MS, inputs=("in/arm",))
    offline = Offline(plan_table([task]))
    seen = []
    for k in range(N):
        offline.run("fast", np.array([MS * k]), forced={"in/arm": UP[k : k + 1].astype(float)})
        seen.append(cell[0])
    assert np.flatnonzero(seen).tolist() == list(range(19, 24))


def test_a_cell_is_kept_as_it_was_when_it_began():
    count = 7.0 + np.arange(N)
    task = Task(
        "fast", [BusyBlock("busy", 0), made(Act.KEEP, cycles=4)], MS, inputs=("in/arm", CELL)
    )
    offline = Offline(plan_table([task]))
    forced = {"in/arm": (np.arange(N) >= ARMED).astype(float), CELL: count}
    image = offline.run("fast", MS * np.arange(N), forced=forced)["fast"]
    expected = count.copy()
    expected[15:19] = count[15]
    assert np.array_equal(image[:, offline.paths("fast").index(CELL)], expected)


def test_a_cell_is_multiplied_while_it_acts():
    seen = run(made(Act.SCALE, cycles=2, value=3.0))
    assert np.array_equal(np.flatnonzero(seen[CELL] == 21.0), [15, 16])


def test_it_can_act_in_every_second_cycle():
    seen = run(made(Act.SET, cycles=6, every=2, value=np.nan))
    assert np.array_equal(np.flatnonzero(np.isnan(seen[CELL])), [15, 17, 19])


def test_it_never_acts_before_it_is_armed():
    block = made(Act.SET, at_s=0.0, value=1.0)
    seen = run(block)
    assert np.array_equal(np.flatnonzero(seen["wrong/acting"]), [ARMED])


def test_a_status_becomes_the_fault_of_the_task():
    block = made(Act.FAIL, cycles=2, value=42)
    task = Task("fast", [BusyBlock("busy", 0), block], MS, inputs=("in/arm",))
    offline = Offline(plan_table([task]))
    image = offline.run("fast", MS * np.arange(N), forced={"in/arm": np.ones(N)})["fast"]
    fault = image[:, offline.paths("fast").index("loop/fast/fault")]
    assert np.array_equal(np.flatnonzero(fault), [10, 11])
    assert set(fault[10:12]) == {42}


def test_an_order_goes_to_a_cell_outside_and_is_taken_back():
    cell = np.zeros(1)
    block = made(Act.ORDER, cycles=2, value=3.0, order=cell.ctypes.data, keep=cell)
    task = Task("fast", [block], MS, inputs=("in/arm",))
    offline = Offline(plan_table([task]))
    seen = []
    for k in range(N):
        offline.run("fast", np.array([MS * k]), forced={"in/arm": np.ones(1)})
        seen.append(cell[0])
    assert np.array_equal(np.flatnonzero(seen), [10, 11])
    assert set(seen[10:12]) == {3.0}


@pytest.mark.parametrize(
    ("act", "options", "words"),
    [
        (Act.SET, {"at_s": -1.0}, "at_s"),
        (Act.SET, {"cells": []}, "0 cells"),
        (Act.SET, {"cells": [CELL] * 9}, "9 cells"),
        (Act.KEEP, {"cells": []}, "0 cells"),
        (Act.SET, {"arming": -1}, "arming"),
        (Act.SET, {"every": 0}, "every"),
        (Act.ORDER, {}, "address"),
        (Act.BURN, {"value": 0.0}, "value"),
        (Act.STEAL, {"value": 1e6}, "no core of its own"),
        (Act.MOVE, {}, "no core of its own"),
    ],
)
def test_what_cannot_be_is_refused(act, options, words):
    with pytest.raises(ValueError, match=words):
        made(act, **options)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) > 1, reason="there is another core")
def test_a_machine_with_one_core_has_nowhere_to_move_to():
    with pytest.raises(ValueError, match="one core only"):
        made(Act.MOVE, core=min(os.sched_getaffinity(0)))

"""Wiring: every port finds its producer, and every mistake of a rig is told at once."""

import re
from dataclasses import replace

import pytest

from rt_core.injection.load import BusyBlock
from rt_core.plan import LOOP_SIGNALS, Mirror, Task, WiringError, plan_table
from rt_core.settings import SettingsError

MS = 1_000_000


class Wires:
    """A block that is only looked at, never stepped."""

    def __init__(self, name, reads=(), writes=()):
        self.name = name
        self.reads = {f"in{i}": path for i, path in enumerate(reads)}
        self.writes = {f"out{i}": path for i, path in enumerate(writes)}

    def bind(self, reads, writes):
        raise AssertionError("planning binds nothing")

    def capsule(self):
        raise AssertionError("planning takes no capsule")


def mistakes_of(tasks, supervisor=()):
    with pytest.raises(WiringError) as caught:
        plan_table(tasks, supervisor)
    return caught.value.mistakes


def test_reads_of_other_producers_become_mirrors_with_the_cycle_of_their_source():
    fast = Task("fast", [Wires("filter", ["loop/slow/fault"], ["wheel/angle_rad"])], MS)
    slow = Task("slow", [Wires("kernel", ["wheel/angle_rad", "supervisor/arm"], ["a/b"])], 5 * MS)
    plan = plan_table([fast, slow], ["supervisor/arm"])
    assert plan.producer("slow").mirrors == (
        Mirror("fast", "loop/fast/cycle"),
        Mirror("fast", "wheel/angle_rad"),
        Mirror("supervisor", "supervisor/arm"),
    )
    assert plan.producer("fast").mirrors == (
        Mirror("slow", "loop/slow/cycle"),
        Mirror("slow", "loop/slow/fault"),
    )
    assert plan.producer("fast").signals[-1] == "wheel/angle_rad"
    assert len(plan.producer("fast").signals) == len(LOOP_SIGNALS) + 1


def test_live_values_are_a_producer_of_their_own_where_there_are_some():
    task = Task("t", [Wires("a", ["live/gain", "live/changes"])], MS)
    plan = plan_table([task], (), ["live/changes", "live/gain"])
    assert plan.producers[-1].name == "live"
    assert plan.producer("t").mirrors == (
        Mirror("live", "live/gain"),
        Mirror("live", "live/changes"),
    )
    assert [p.name for p in plan_table([Task("t", [], MS)]).producers] == ["t", "supervisor"]
    found = mistakes_of([Task("live", [], MS)])
    assert any("those of the producer 'live'" in words for words in found)


def test_a_read_of_the_own_task_is_no_mirror():
    task = Task("t", [Wires("a", ["b/out"], ["a/out"]), Wires("b", ["a/out"], ["b/out"])], MS)
    assert plan_table([task]).producer("t").mirrors == ()


def test_an_input_needs_no_writer():
    task = Task("t", [Wires("a", ["encoder/count"])], MS, inputs=("encoder/count",))
    assert "encoder/count" in plan_table([task]).producer("t").signals


def test_all_mistakes_are_told_at_once():
    first = Wires("first", ["wheel/angel_rad"], ["wheel/angle_rad", "Bad Path"])
    second = Wires("second", [], ["wheel/angle_rad", "loop/fast/cycle"])
    tasks = [
        Task("fast", [first], 2 * MS, bus=("nobody",)),
        Task("slow", [second, BusyBlock("first", 0)], 3 * MS, spin_ns=3 * MS),
    ]
    found = mistakes_of(tasks, ["arm/flag"])
    expected = [
        ["tasks.slow.blocks = 'first'", "'fast'", "list it once"],
        ["'nobody'"],
        ["tasks.slow.period_ns = 3000000", "2000000", "take 2000000 or 4000000"],
        ["tasks.slow.spin_ns = 3000000", "spin at most 2550000"],
        ["'arm/flag'", "supervisor/"],
        ["'Bad Path'", "first"],
        ["'wheel/angle_rad'", "two writers", "'first'", "'second'"],
        ["'loop/fast/cycle'", "'second'", "belong"],
        ["'wheel/angel_rad'", "did you mean 'wheel/angle_rad'"],
    ]
    for words in expected:
        hits = [mistake for mistake in found if all(word in mistake for word in words)]
        assert len(hits) == 1, (words, found)
    assert len(found) == len(expected)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"period_ns": 0}, "period_ns = 0"),
        ({"overrun": "panic"}, "overrun = 'panic'"),
        ({"overrun_limit": 0}, "overrun_limit"),
        ({"overrun_limit": 65}, "less than or equal to 64"),
        ({"overrun_window": 0}, "overrun_window"),
        ({"stall_cycles": 0}, "stall_cycles"),
        ({"late_limit_ns": -1}, "late_limit_ns"),
        ({"priority": 99}, "priority = 99"),
        ({"ring_slots": 100}, "ring_slots = 100: must be a power of two"),
        ({"name": "Sim Task"}, "'Sim Task'"),
    ],
)
def test_a_bad_figure_of_a_task_is_named(change, word):
    with pytest.raises(SettingsError, match=re.escape(word)):
        replace(Task("t", [Wires("a")], MS), **change)


def test_a_task_has_a_name_of_its_own():
    (problem,) = mistakes_of([Task("supervisor", [], MS)])
    assert "signals under this name are those of the producer 'supervisor'" in problem
    assert "taken by another task" in mistakes_of([Task("t", [], MS), Task("t", [], MS)])[0]


def test_the_default_ring_holds_two_seconds():
    assert Task("t", [], 200_000).slots >= 10_000
    assert Task("t", [], 200_000).slots & (Task("t", [], 200_000).slots - 1) == 0

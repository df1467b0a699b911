"""The cells of measured reactions."""

from functools import cache

from rigloop.compose.wiring import load as load_again
from rigloop.inject.kinds import Reaction
from rigloop.safety.answers import answers_of
from rigloop.safety.measure import Measured
from rigloop.safety.view import reactions

load = cache(load_again)


def test_the_time_until_the_guard_asks_for_zero_says_so_and_what_the_drive_adds():
    loaded = load("steering_wheel")
    answers = [a for a in answers_of(loaded.rig) if a.fault.name == "al-error"]
    note = reactions(answers, None, "x").note
    assert "until the guard requests a torque of exactly zero" in note
    assert "0.2 ms later (guard)" in note


def test_a_held_output_is_timed_by_when_it_is_found():
    answers = [a for a in answers_of(load("fault_bench").rig) if a.fault.name == "frame-lost"]
    assert answers[0].stated.reaction == Reaction.HOLD
    (row,) = reactions(answers, {("guard", "frame-lost"): Measured(3, 0, worst_ms=0.5)}, "x").rows
    assert row[-2:-1] == ["1 ms (1)"]
    assert row[-1].text == "0.5 ms (0)"

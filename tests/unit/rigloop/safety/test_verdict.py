"""The verdict on measured reactions."""

from functools import cache

import pytest

from rigloop.compose.wiring import load as load_again
from rigloop.safety.answers import answers_of
from rigloop.safety.measure import Measured
from rigloop.safety.traced import limits_in
from rigloop.safety.verdict import reasons, said
from rigloop.safety.view import as_message, document, reactions

load = cache(load_again)


def test_a_reaction_beyond_its_bound_or_never_seen_is_a_bad_verdict():
    loaded = load("fault_bench")
    answers = [a for a in answers_of(loaded.rig) if a.fault.name in ("link-down", "time-gap")]
    limits = limits_in(loaded.rig)
    good = {
        ("guard", a.fault.name): Measured(20, a.stated.detect, a.stated.zero, worst_ms=9.0)
        for a in answers
    }
    assert as_message(loaded, limits, answers, good, 20)["good"]
    late = good | {("guard", "link-down"): Measured(20, 2, 4, ["zero after 4 cycles, stated 2"])}
    (reason,) = reasons(answers, late, 20)
    assert "1 × not as stated: zero after 4 cycles, stated 2" in reason
    never = good | {("guard", "time-gap"): Measured(spoilt=4)}
    message = as_message(loaded, limits, answers, never, 20)
    assert not message["good"]
    assert "not measured: 4 runs ended before it" in message["reasons"][0]
    shown = document(message, [reactions(answers, never, "fault_bench")])
    assert "BAD" in shown
    assert "not seen" in shown


def test_a_fault_that_was_spoilt_in_some_repeats_says_how_many_were_seen():
    loaded = load("fault_bench")
    answers = [a for a in answers_of(loaded.rig) if a.fault.name == "link-down"]
    once = {("guard", "link-down"): Measured(1, 2, 2, spoilt=76)}
    (reason,) = reasons(answers, once, 20)
    assert "seen in 1 of 20 repeats only" in reason
    assert as_message(loaded, limits_in(loaded.rig), answers, once, 20)["verdict"] == "bad"


@pytest.mark.parametrize("row", [Measured(), Measured(spoilt=4)])
def test_a_fault_that_this_machine_cannot_try_leaves_the_verdict_incomplete(row):
    loaded = load("fault_bench")
    names = ("cycle-kill", "link-down")
    answers = [a for a in answers_of(loaded.rig) if a.fault.name in names]
    measured = {("guard", "cycle-kill"): row, ("guard", "link-down"): Measured(20, 2, 2)}
    message = as_message(loaded, limits_in(loaded.rig), answers, measured, 20)
    assert (message["verdict"], message["good"], message["reasons"]) == ("incomplete", False, [])
    (missing,) = message["not_tried"]
    assert "cycle-kill at guard, on a virtual cable" in missing
    assert "not tried: cycle-kill" in said(message)[0]
    assert "`rigloop commission` kills the cycle" in message["remarks"][-1]
    shown = document(message, [reactions(answers, measured, "fault_bench")])
    assert "20 repeats: INCOMPLETE." in shown
    assert "not tried: cycle-kill" in shown
    # a fault that was not asked for is not missing
    del measured["guard", "cycle-kill"]
    message = as_message(loaded, limits_in(loaded.rig), answers, measured, 20)
    assert (message["verdict"], message["not_tried"]) == ("good", [])


def test_a_verdict_on_nothing_is_not_good():
    loaded = load("fault_bench")
    message = as_message(loaded, limits_in(loaded.rig), answers_of(loaded.rig), {}, 20)
    assert (message["verdict"], said(message)) == ("incomplete", ["nothing was measured"])

"""The verdict on measured reactions, and their cells."""

from functools import cache

from rigloop.compose.wiring import load as load_again
from rigloop.inject.kinds import Reaction
from rigloop.safety.answers import answers_of
from rigloop.safety.measure import Measured
from rigloop.safety.traced import limits_in
from rigloop.safety.view import as_message, document, reactions, reasons

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
    (said,) = reasons(answers, late)
    assert "1 × not as stated: zero after 4 cycles, stated 2" in said
    never = good | {("guard", "time-gap"): Measured(spoilt=4)}
    message = as_message(loaded, limits, answers, never, 20)
    assert not message["good"]
    assert "not measured: 4 runs ended before it" in message["reasons"][0]
    wire = [a for a in answers_of(loaded.rig) if a.fault.name == "cycle-kill"]
    unseen = {("guard", "cycle-kill"): Measured(spoilt=4)}
    assert as_message(loaded, limits, wire, unseen, 20)["good"]
    (remark,) = as_message(loaded, limits, wire, unseen, 20)["remarks"]
    assert "on a virtual cable" in remark
    shown = document(message, [reactions(answers, never, "fault_bench")])
    assert "BAD" in shown
    assert "not seen" in shown


def test_a_held_output_is_timed_by_when_it_is_found():
    answers = [a for a in answers_of(load("fault_bench").rig) if a.fault.name == "frame-lost"]
    assert answers[0].stated.reaction == Reaction.HOLD
    (row,) = reactions(answers, {("guard", "frame-lost"): Measured(3, 0, worst_ms=0.5)}, "x").rows
    assert row[-2:-1] == ["1 ms (1)"]
    assert row[-1].text == "0.5 ms (0)"

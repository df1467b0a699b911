"""The verdict on measured reactions: good, bad, or incomplete, with what was not tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rigloop.inject.kinds import ON_VETH
from rigloop.safety.answers import Answer
from rigloop.safety.chosen import no_veth
from rigloop.safety.measure import Measured, Outcome

GOOD, BAD, INCOMPLETE, STATED_ONLY = "good", "bad", "incomplete", "not measured"
NOTHING = "nothing was measured"
ON_THE_RIG = (
    "without a virtual cable that carries its frames in time this machine shows no drive that is left alone; on the "
    "rig itself `rigloop commission` kills the cycle and measures how its drive ends the torque"
)


def verdict(answers: Sequence[Answer], measured: Outcome | None, repeats: int) -> str:
    """Return the verdict: good only if something was measured, and all that was asked for as often as asked."""
    if measured is None:
        return STATED_ONLY
    if reasons(answers, measured, repeats):
        return BAD
    seen = any(row.repeats for row in measured.values())
    return GOOD if seen and not not_tried(answers, measured) else INCOMPLETE


def reasons(answers: Sequence[Answer], measured: Outcome, repeats: int) -> list[str]:
    """Return a line for each answer that was not as stated, or not seen in every repeat."""
    found = []
    for answer in answers:
        row = measured.get((answer.guard, answer.fault.name))
        if row is None or is_untried(answer, row):
            continue
        if row.not_as_stated:
            n = len(row.not_as_stated)
            found.append(
                f"{answer.name} at {answer.guard}: {n} × not as stated: {row.not_as_stated[0]}"
            )
        elif not row.repeats:
            found.append(f"{answer.name} at {answer.guard}: {_unseen(row)}")
        elif row.repeats < repeats:
            found.append(
                f"{answer.name} at {answer.guard}: seen in {row.repeats} of {repeats} repeats only: {row.spoilt} runs "
                "ended before it, or had no torque"
            )
    return found


def not_tried(answers: Sequence[Answer], measured: Outcome) -> list[str]:
    """Return a line for each answer that this machine could not try: it needs a virtual cable."""
    found = []
    for answer in answers:
        row = measured.get((answer.guard, answer.fault.name))
        if row is not None and is_untried(answer, row):
            why = _unseen(row) if row.spoilt else no_veth() or "no run"
            found.append(f"{answer.name} at {answer.guard}, on a virtual cable: {why}")
    return found


def remarks(answers: Sequence[Answer], measured: Outcome) -> list[str]:
    """Return a line for tries again, and one on what stands in for those that could not be tried."""
    rows = [measured.get((answer.guard, answer.fault.name)) for answer in answers]
    again = sum(row.spoilt for row in rows if row is not None and row.repeats)
    found = []
    if again:
        found.append(
            f"{again} runs ended before their fault, or had no torque then; they were tried again"
        )
    if not_tried(answers, measured):
        found.append(ON_THE_RIG)
    return found


def said(message: Mapping[str, Any]) -> list[str]:
    """Return the words behind the verdict of a message; none: it is good."""
    found = list(message["reasons"])
    if message["not_tried"]:
        found.append(f"not tried: {'; '.join(message['not_tried'])}")
    return found or ([NOTHING] if message["verdict"] == INCOMPLETE else [])


def is_untried(answer: Answer, row: Measured) -> bool:
    """Decide if this machine could not try an answer: it needs a virtual cable, and was never seen."""
    seen = row.repeats or row.not_as_stated
    return answer.fault.needs in ON_VETH and not seen


def _unseen(row: Measured) -> str:
    return f"not measured: {row.spoilt} runs ended before it, or had no torque"

"""The hazards of a rig as tables for people, as facts for programs, and as a document that is kept beside the rig."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rig_configs.hazards import HAZARDS, Hazard
from rig_configs.load import LoadedRig
from rigloop.compose.blocks import find_guards
from rigloop.display.tables import Cell, Column, Table, Tone, Toned, figures, markdown, words
from rigloop.inject.kinds import Reaction
from rigloop.safety.answers import Answer, frame_ms
from rigloop.safety.measure import Measured, Outcome
from rigloop.safety.traced import NOT_SET, Limit
from rigloop.safety.verdict import (
    GOOD,
    STATED_ONLY,
    is_untried,
    not_tried,
    reasons,
    remarks,
    said,
    verdict,
)

NOT_A_SAFETY_FUNCTION = (
    "rigloop is not a safety function: a person's safety needs STO and an emergency stop in hardware, and the "
    "protection outside software that docs/safety.md lists."
)
NO_TORQUE = (
    "This rig has no guard and therefore no torque: there is no reaction to state or to measure."
)
UNSEEN = "unseen while it lasts"
KINDS = {
    Reaction.COUNT: "continues, counted",
    Reaction.HOLD: "holds",
    Reaction.RAMP: "ramps out",
    Reaction.SAFE: "zero at once",
    Reaction.DRIVE: "drive's watchdog",
}


def reactions(answers: Sequence[Answer], measured: Outcome | None, name: str) -> Table:
    """Return a row for each axis and fault: found by which part and limit, the time as stated, and as measured."""
    several = len({answer.guard for answer in answers}) > 1
    columns: list[Column] = [
        *words("hazard", whole=True, tone=Tone.STRONG),
        *(words("axis", whole=True) if several else []),
        *words("fault", whole=True),
        *words("found by"),
        *words("limits in this rig", folds=True),
        *words("reaction"),
        *figures("stated", whole=True),
        *(figures(_worst_of(measured), whole=True) if measured is not None else []),
    ]
    rows: list[list[Cell]] = []
    last: Hazard | None = None
    for answer in answers:
        hazard = answer.fault.hazard
        if last is not None and hazard != last:
            rows.append([])
        rows.append(
            [
                hazard.title if hazard != last else "",
                *([answer.guard] if several else []),
                answer.fault.name,
                found_by(answer),
                ", ".join(f"{_short(limit)} = {limit.value}" for limit in answer.limits),
                UNSEEN if answer.shows_late else KINDS[answer.stated.reaction],
                time_of(answer, _stated_cycles(answer)),
                *([_measured(answer, measured)] if measured is not None else []),
            ]
        )
        last = hazard
    note = (
        "Times run from the fault until the guard requests a torque of exactly zero, or to the first held output: on "
        f"the clock, and in executed cycles, which decide the verdict. {_at_drives(answers)}"
    )
    return Table(columns, rows, title=f"{name}: reactions", note=note)


def hazards(limits: Mapping[Hazard, Sequence[Limit]], name: str) -> Table:
    """Return the limits of a rig that answer each hazard, a row each; several axes with one value share a row."""
    rows: list[list[Cell]] = []
    for hazard in HAZARDS:
        where: dict[tuple[str, str], list[str]] = {}
        for limit in limits[hazard]:
            if limit.value != NOT_SET:
                place, _, key = limit.key.rpartition(".")
                where.setdefault((key, limit.value), []).append(place)
        found: list[list[Cell]] = [
            [key, value, ", ".join(places)] for (key, value), places in where.items()
        ]
        if not found:
            in_words = hazard.built_in and "built in"
            found = [[Toned(in_words or "nothing in software", Tone.SOFT), "", ""]]
        rows += [[], *([hazard.title if i == 0 else "", *row] for i, row in enumerate(found))]
    columns = [
        *words("hazard", whole=True, tone=Tone.STRONG),
        *words("limit", whole=True),
        *figures("in this rig", whole=True),
        *words("where"),
    ]
    return Table(columns, rows[1:], title=f"{name}: hazards, and the limits that answer them")


def outside() -> Table:
    """Return for each hazard what it does, what is built in, and the part that has to be outside software."""
    rows = [[h.title, h.harm, h.built_in, h.outside] for h in HAZARDS]
    columns = [*words("hazard", whole=True), *words("harm", "built in", "outside software")]
    return Table(columns, rows, title="Outside software")


def time_of(answer: Answer, cycles: int | None) -> str:
    """Return cycles of an axis as a time, with the cycles."""
    ms = answer.ms(cycles)
    return "" if ms is None else f"{ms:.4g} ms ({cycles})"


def _at_drives(answers: Sequence[Answer]) -> str:
    """Return how much later than its guard the drive of each axis is at zero."""
    axes = {
        answer.guard: answer.lim
        for answer in answers
        if answer.lim.axis.drive and answer.lim.axis.bus
    }
    later = [
        f"{frame_ms(lim) + lim.bus.drives[str(lim.axis.drive)].torque_delay_ms:.4g} ms later ({guard})"
        for guard, lim in axes.items()
    ]
    if not later:
        return ""
    return (
        f"At the drive, with the next frame and torque_delay_ms: {', '.join(later)}; if no frame reaches it, after "
        "its own watchdog_ms."
    )


def as_message(
    loaded: LoadedRig,
    limits: Mapping[Hazard, Sequence[Limit]],
    answers: Sequence[Answer],
    measured: Outcome | None,
    repeats: int,
) -> dict[str, Any]:
    """Return the facts for `--json`."""
    word = verdict(answers, measured, repeats)
    return {
        "rig": loaded.name,
        "sha256": loaded.sha256,
        "has_torque": bool(find_guards(loaded.rig)),
        "repeats": repeats if measured is not None else 0,
        "hazards": [
            {
                "name": hazard.name,
                "harm": hazard.harm,
                "limits": {limit.key: limit.value for limit in limits[hazard]},
                "built_in": hazard.built_in,
                "outside": hazard.outside,
                "only_outside": hazard.only_outside,
            }
            for hazard in HAZARDS
        ],
        "reactions": [_facts(answer, measured) for answer in answers],
        "reasons": [] if measured is None else reasons(answers, measured, repeats),
        "not_tried": [] if measured is None else not_tried(answers, measured),
        "remarks": [] if measured is None else remarks(answers, measured),
        "verdict": word,
        "good": word in (GOOD, STATED_ONLY),
        "not_a_safety_function": NOT_A_SAFETY_FUNCTION,
    }


def document(message: Mapping[str, Any], tables: Sequence[Table]) -> str:
    """Return the tables as a Markdown document that says of which rig file it is."""
    lines = [f"# Safety table of {message['rig']}", ""]
    lines += [f"Rig file: sha256 `{message['sha256']}`.", "", NOT_A_SAFETY_FUNCTION]
    if not message["has_torque"]:
        lines += ["", NO_TORQUE]
    if message["repeats"]:
        word = (
            "GOOD: none beyond its stated bound" if message["good"] else message["verdict"].upper()
        )
        lines += [
            "",
            f"Measured by injection on emulated segments, {message['repeats']} repeats: {word}.",
        ]
        lines += [f"- {reason}" for reason in (*said(message), *message["remarks"])]
    for table in tables:
        lines += ["", f"## {table.title}", "", *markdown(table)]
    return "\n".join(lines) + "\n"


def _facts(answer: Answer, measured: Outcome | None) -> dict[str, Any]:
    stated = answer.stated
    row = None if measured is None else measured.get((answer.guard, answer.fault.name))
    facts = {
        "hazard": answer.fault.hazard.name,
        "guard": answer.guard,
        "fault": answer.fault.name,
        "does": answer.fault.does,
        "found_by": list(stated.found_by),
        "limits": {limit.key: limit.value for limit in answer.limits},
        "reaction": stated.reaction.value,
        "to_find": stated.detect,
        "to_zero": stated.zero,
        "period_ms": answer.lim.period_s * 1e3,
        "to_zero_ms": answer.ms(stated.zero),
        "at_drive_ms": answer.at_drive_ms,
        "cannot": answer.cannot,
    }
    return facts | {"measured": None if row is None else _as_facts(row, answer)}


def _as_facts(row: Measured, answer: Answer) -> dict[str, Any]:
    return {
        "repeats": row.repeats,
        "spoilt": row.spoilt,
        "worst_to_find": row.worst_to_find,
        "worst_to_zero": row.worst_to_zero,
        "worst_ms": row.worst_ms,
        "not_as_stated": row.not_as_stated,
    }


def _stated_cycles(answer: Answer) -> int | None:
    if answer.ends:
        return answer.stated.zero
    holds = answer.stated.reaction == Reaction.HOLD and not answer.shows_late
    return answer.stated.detect if holds else None


def found_by(answer: Answer) -> str:
    """Return the part that finds a fault, in words."""
    if answer.fault.named:
        return "the verdict, after the run"
    parts = (
        part if "/" in part else part.lower().replace("_", " ") for part in answer.stated.found_by
    )
    return " or ".join(parts) or NOT_SET


def _worst_of(measured: Outcome) -> str:
    return f"worst of {_most_repeats(measured)}"


def _most_repeats(measured: Outcome) -> int:
    return max((row.repeats for row in measured.values()), default=0)


def _short(limit: Limit) -> str:
    return limit.key.rpartition(".")[2]


def _measured(answer: Answer, measured: Outcome) -> Cell:
    row = measured.get((answer.guard, answer.fault.name))
    if row is None:
        return Toned("not requested" if answer.ends else "", Tone.SOFT)
    if is_untried(answer, row):
        return Toned("not tried", Tone.WARN)
    if not row.repeats:
        return Toned("not seen", Tone.BAD)
    worst = row.worst_to_zero if answer.ends else row.worst_to_find
    fewer = f" of {row.repeats}" if row.repeats < _most_repeats(measured) else ""
    text = f"{row.worst_ms:.4g} ms ({worst}){fewer}"
    return Toned(text, Tone.BAD if row.not_as_stated else Tone.GOOD)

"""The table of faults with the figures of a rig: for the terminal, for JSON, and for docs/faults.md."""

from __future__ import annotations

from typing import Any

from rigloop.compose.blocks import find_guards
from rigloop.display.tables import Table, figures, markdown, words
from rigloop.inject.axis import Part, axes_named
from rigloop.inject.faults import NOT_INJECTABLE, ROWS
from rigloop.inject.kinds import Fault
from rigloop.inject.limits import Limits
from rigloop.inject.others import ended_with
from rigloop.inject.request import Injection

HEAD = (
    "fault",
    "what it does",
    "where",
    "whom",
    "reaction",
    "found by",
    "bound",
    "cycles to find",
    "to zero",
)

NEEDS = {
    "": "",
    "simulated": "`--bus simulated`",
    "veth": "`--bus veth`",
    "line": "`--bus veth`",
    "ring": "`--bus veth`, `second_interface`",
    "rows": "in coordinates with constraints",
    "telemetry": "`--telemetry`",
}

WHOM: dict[Part, str] = {
    "": "",
    "guard": "guard, drive",
    "encoder": "guard, encoder filter, drive",
    "model": "guard, mechanism",
    "drive": "guard, drive",
    "bus": "guard, bus",
}
"""The names that a fault takes before it."""


def rows(lim: Limits) -> list[dict[str, Any]]:
    """Return a row a fault."""
    return [_row(fault, lim) for fault in ROWS]


def _row(fault: Fault, lim: Limits) -> dict[str, Any]:
    value = fault.argument.default(lim) if fault.argument else 0.0
    stated = fault.states(lim, value)
    others = ended_with(Injection(fault.name, fault, value, 0.0, lim))
    unit = fault.argument.unit if fault.argument else ""
    return {
        "name": fault.name,
        "argument": f"{value:.6g} {unit}" if unit else "",
        "does": fault.does,
        "where": fault.where,
        "part": fault.strikes,
        "needs": fault.needs,
        "reaction": stated.reaction.value,
        "found_by": list(stated.found_by),
        "named": fault.named,
        "bound": fault.bound,
        "to_find": stated.detect,
        "to_zero": stated.zero,
        "strikes": [
            name
            for name, axis in axes_named(lim.rig, fault.strikes).items()
            if axis == lim.axis.guard
        ],
        "ends_too": None if others is None else sorted(others),
    }


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    does = f"{row['does']} (default {row['argument']})" if row["argument"] else row["does"]
    zero = "" if row["to_zero"] is None else str(row["to_zero"])
    where = ", ".join(filter(None, (row["where"], NEEDS[row["needs"]])))
    found_by = " or ".join(row["found_by"]) or (
        f"the verdict: {row['named']!r}" if row["named"] else "nothing: it is harmless"
    )
    return (
        row["name"], does, where, WHOM[row["part"]], row["reaction"], found_by, row["bound"],
        str(row["to_find"]) if row["found_by"] else "", zero,
    )  # fmt: skip


def table(lim: Limits) -> Table:
    """Return the table for a terminal: what it does and what is stated, without the words on why."""
    several = len(find_guards(lim.rig)) > 1
    shown = []
    for row in rows(lim):
        name, does, _, _, reaction, _, _, to_find, to_zero = _cells(row)
        ends = "any" if row["ends_too"] is None else ", ".join(row["ends_too"])
        shown.append([name, does, reaction, to_find, to_zero, *([ends] if several else [])])
    heads = [
        *words("fault", whole=True),
        *words("what it does", "reaction"),
        *figures("to find", "to zero", whole=True),
    ]
    return Table([*heads, *(words("ends too") if several else [])], shown)


def names(lim: Limits) -> list[str]:
    """Return a line for each part of a rig with several axes: the names that its faults take before them."""
    if len(find_guards(lim.rig)) < 2:
        return []
    parts: dict[Part, list[str]] = {}
    for fault in ROWS:
        if fault.strikes:
            parts.setdefault(fault.strikes, []).append(fault.name)
    return [
        f"NAME/{faults[0]}@T and others of the {part}: NAME is {', '.join(axes_named(lim.rig, part))}"
        for part, faults in parts.items()
    ]


def as_markdown(lim: Limits) -> str:
    """Return the tables of docs/faults.md."""
    cells = [(f"`{name}`", *others) for name, *others in map(_cells, rows(lim))]
    injectable = Table([*words(*HEAD[:-2]), *figures(*HEAD[-2:])], cells)
    others = Table(words("not injectable", "why"), list(NOT_INJECTABLE.items()))
    return "\n".join([*markdown(injectable), "", *markdown(others)])

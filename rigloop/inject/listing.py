"""The table of faults with the figures of a rig: for the terminal, for JSON, and for docs/faults.md."""

from __future__ import annotations

from typing import Any

from rigloop.display.tables import Table, figures, markdown, words
from rigloop.inject.faults import NOT_INJECTABLE, ROWS
from rigloop.inject.kinds import Fault
from rigloop.inject.limits import Limits

HEAD = (
    "fault",
    "what it does",
    "where",
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
    "telemetry": "`--telemetry`",
}


def rows(lim: Limits) -> list[dict[str, Any]]:
    """Return a row a fault."""
    return [_row(fault, lim) for fault in ROWS]


def _row(fault: Fault, lim: Limits) -> dict[str, Any]:
    value = fault.argument.default(lim) if fault.argument else 0.0
    stated = fault.states(lim, value)
    unit = fault.argument.unit if fault.argument else ""
    return {
        "name": fault.name,
        "argument": f"{value:.6g} {unit}" if unit else "",
        "does": fault.does,
        "where": fault.where,
        "needs": fault.needs,
        "reaction": stated.reaction.value,
        "found_by": list(stated.found_by),
        "named": fault.named,
        "bound": fault.bound,
        "to_find": stated.detect,
        "to_zero": stated.zero,
    }


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    does = f"{row['does']} (default {row['argument']})" if row["argument"] else row["does"]
    zero = "" if row["to_zero"] is None else str(row["to_zero"])
    where = ", ".join(filter(None, (row["where"], NEEDS[row["needs"]])))
    found_by = " or ".join(row["found_by"]) or (
        f"the verdict: {row['named']!r}" if row["named"] else "nothing: it does no harm"
    )
    return (
        row["name"], does, where, row["reaction"], found_by, row["bound"],
        str(row["to_find"]) if row["found_by"] else "", zero,
    )  # fmt: skip


def table(lim: Limits) -> Table:
    """Return the table for a terminal: what it does and what is stated, without the words on why."""
    heads = [*words("fault", whole=True), *words("what it does", "reaction")]
    cells = (_cells(row) for row in rows(lim))
    return Table(
        [*heads, *figures("to find", "to zero", whole=True)],
        [
            [name, does, reaction, to_find, to_zero]
            for name, does, _, reaction, _, _, to_find, to_zero in cells
        ],
    )


def as_markdown(lim: Limits) -> str:
    """Return the tables of docs/faults.md."""
    cells = [(f"`{name}`", *others) for name, *others in map(_cells, rows(lim))]
    injectable = Table([*words(*HEAD[:-2]), *figures(*HEAD[-2:])], cells)
    others = Table(words("not injectable", "why"), list(NOT_INJECTABLE.items()))
    return "\n".join([*markdown(injectable), "", *markdown(others)])

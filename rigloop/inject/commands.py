"""`rigloop faults`: which faults `rigloop run --inject` knows, and what a rig states about each."""

from __future__ import annotations

from typing import Annotated

import typer

from rigloop.console.answers import JsonOption, errors_as_lines, print_json
from rigloop.console.screen import Screen, say

RIG = "fault_bench"


def faults(
    rig: Annotated[
        str,
        typer.Argument(help="Rig whose bounds are stated, in cycles of the task with its guard."),
    ] = RIG,
    guard: Annotated[
        str | None,
        typer.Option(
            help="Axis whose bounds are stated, by the name of its guard; by default the "
            "first axis of the rig."
        ),
    ] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the tables of docs/faults.md.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """List the faults of `rigloop run --inject`: the effect of each, how it is detected, and within how many cycles."""
    from rigloop.compose.wiring import load
    from rigloop.display.tables import show
    from rigloop.inject.limits import limits_of
    from rigloop.inject.listing import as_markdown, names, rows, table

    with errors_as_lines(json):
        limits = limits_of(load(rig).rig, guard)
    if json:
        print_json(
            {
                "rig": rig,
                "guard": limits.axis.guard,
                "period_us": limits.fast_task.period_us,
                "faults": rows(limits),
            }
        )
    elif markdown:
        say(as_markdown(limits))
    else:
        console = Screen()
        show(table(limits), console)
        period = limits.fast_task.period_us
        words = f"{rig}, {limits.axis.guard}: bounds in cycles of {period} µs, from the fault on"
        console.print(words, highlight=False, markup=False)
        for line in names(limits):
            console.print(line, highlight=False, markup=False)

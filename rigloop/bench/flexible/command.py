"""`rigloop bench flexible`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rigloop.console.answers import JsonOption, answer, errors_as_lines, writing
from rigloop.console.screen import Screen


def flexible(
    plot: Annotated[
        Path | None, typer.Option(help="Picture of forces and estimates (PNG, SVG or PDF).")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Find six unknown forces on a vehicle's body from ten strain gauges and a gyroscope."""
    from rigloop.bench.flexible.flexible import run
    from rigloop.bench.flexible.view import draw, show

    console = Screen(stderr=json)
    with errors_as_lines(json), console.status("reference of 64 modes") as status:
        outcome, motion, found = run(status.update)
        if plot:
            with writing(plot, json):
                draw(plot, motion, found)
    answer(outcome, lambda: show(outcome, console), json, good=outcome.good)

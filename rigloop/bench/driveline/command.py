"""`rigloop bench driveline`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rigloop.console.answers import JsonOption, answer, errors_as_lines, writing
from rigloop.console.screen import Screen


def driveline(
    runs: Annotated[
        int, typer.Option(min=1, max=100, help="Number of runs, each with its own noise.")
    ] = 5,
    plot: Annotated[
        Path | None, typer.Option(help="Picture of load and estimate (PNG, SVG or PDF).")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Estimate the torque of a load behind a motor and a cardan shaft, from 10 to 200 Hz."""
    from rigloop.bench.driveline.driveline import run_filters
    from rigloop.bench.driveline.view import draw, show

    console = Screen(stderr=json)
    with errors_as_lines(json), console.status(f"{runs} runs of 10 s"):
        rows, motion = run_filters(runs)
        if plot:
            with writing(plot, json):
                draw(plot, rows, motion)
    good = all(row.good for row in rows)
    answer({"runs": runs, "rows": rows}, lambda: show(rows, runs, console), json, good=good)

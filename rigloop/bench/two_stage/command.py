"""`rigloop bench two-stage`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rigloop.console.answers import JsonOption, answer, errors_as_lines, writing
from rigloop.console.screen import Screen


def two_stage(
    runs: Annotated[
        int, typer.Option(min=1, max=1000, help="Number of runs, each with its own noise.")
    ] = 10,
    plot: Annotated[
        Path | None, typer.Option(help="Folder for one picture (PNG and SVG) of each case.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Compare the two-stage observer (kinematics, then forces) with single-stage filters on a slider-crank."""
    from rigloop.bench.two_stage.two_stage import CASES, run_case
    from rigloop.bench.two_stage.view import draw, show

    console = Screen(stderr=json)
    with errors_as_lines(json):
        rows = []
        for name in CASES:
            with console.status(f"{name}: {runs} runs"):
                rows += run_case(name, runs)
        if plot:
            with writing(plot, json):
                plot.mkdir(parents=True, exist_ok=True)
                for name in CASES:
                    for kind in ("png", "svg"):
                        draw(name, plot / f"{name}.{kind}")
    answer({"runs": runs, "rows": rows}, lambda: show(rows, runs, console), json)

"""`rigloop bench consistency`: arguments in, a table and a figure out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rigloop.console.answers import JsonOption, answer, errors_as_lines, writing
from rigloop.console.screen import Screen


def consistency(
    runs: Annotated[
        int, typer.Option(min=20, max=100_000, help="Number of matched runs of each filter.")
    ] = 250,
    filters: Annotated[
        list[str] | None,
        typer.Option(
            "--filter", help="Filter, by its name in the table; repeatable. By default all filters."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of plants and noise.")] = 0,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Number of processes; by default one for each core.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Picture of the means over time: .png, .svg or .pdf.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Test whether each filter knows its own error: NEES and NIS of matched runs against chi-square bounds.

    The exit code is 1 if a filter that must be consistent is not.
    """
    console = Screen(stderr=json)
    with errors_as_lines(json):
        from rigloop.bench.consistency.consistency import measure
        from rigloop.bench.consistency.view import draw, show

        outcome = measure(runs, seed, filters, jobs, console)
    if plot is not None:
        with writing(plot, json):
            draw(outcome, plot)
    answer(outcome, lambda: show(outcome, console), json, good=outcome.good)

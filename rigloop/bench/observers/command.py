"""`rigloop bench observers`: arguments in, a table and figures out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rigloop.console.answers import JsonOption, answer, errors_as_lines
from rigloop.console.screen import Screen


def observers(
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Make only 3 runs of tests 3 and 4, with samples every 1 and 10 steps."
        ),
    ] = False,
    runs_each: Annotated[
        int, typer.Option(min=1, max=1000, help="Number of runs of each case.")
    ] = 20,
    filters: Annotated[
        list[str] | None,
        typer.Option(
            "--filter",
            help="Observer, by its published name; repeatable. By default all except the smoother, "
            "which needs seconds for each run.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the sensors' noise.")] = 0,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Number of processes; by default one for each core.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for the table (.csv) and figures (.png)."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Compare the observers on the four-bar and five-bar linkage with a wrong gravity, and with sensors and rates as
    published.
    """
    console = Screen(stderr=json)
    with errors_as_lines(json):
        from rigloop.bench.observers.observers import order, run_bench
        from rigloop.bench.observers.view import save, show

        wanted = order(quick=quick, runs=runs_each, filters=filters, seed=seed, jobs=jobs)
        outcome = run_bench(wanted, console)
        if output is not None:
            save(outcome, output)
    answer(outcome, lambda: show(outcome, console), json, good=outcome.good)

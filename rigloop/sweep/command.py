"""`rigloop sweep`."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rigloop.console.answers import JsonOption, answer, errors_as_lines, writing
from rigloop.console.run_options import MappingOption, TrustOption
from rigloop.console.screen import Screen


class Drawn(StrEnum):
    """Ways to draw samples."""

    SOBOL = "sobol"
    LATIN = "latin"
    RANDOM = "random"


def sweep(
    sources: Annotated[
        list[Path], typer.Argument(help="Logs, or folders of recorded runs.", readable=False)
    ],
    rig: Annotated[
        str | None,
        typer.Option(
            help="Rig whose keys are changed and whose `[metrics]` are measured; by default the rig "
            "of the first run, or else steering_wheel."
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="KEY=1,2,5 or KEY=FIRST:LAST:COUNT; repeatable. All combinations are replayed.",
        ),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(min=1, help="Replay this number of samples instead of all combinations."),
    ] = None,
    method: Annotated[Drawn, typer.Option(help="Method that draws the samples.")] = Drawn.SOBOL,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the samples.")] = 0,
    out: Annotated[Path, typer.Option(help="Table to write, in Parquet format.")] = Path(
        "sweep.parquet"
    ),
    plot: Annotated[
        Path | None, typer.Option(help="Folder for a tornado chart and a heat map of each metric.")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1, max=1024, help="Number of processes; by default one for each processor."
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(help="Dask scheduler whose workers compute instead: `tcp://HOST:8786`."),
    ] = None,
    mapping: MappingOption = None,
    trust: TrustOption = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an existing table, and begin from the start.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Replay logs or runs with keys of the rig changed, and write one table: parameters, metrics, hashes, faults.

    No records are kept. If a sweep is cut short, the same command continues it. The table does not depend on the
    machine that computed it. The exit code is 1 if a replay failed.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    from rigloop.compose.wiring import load
    from rigloop.display.verdict import line
    from rigloop.sweep.design import points_of, read_axis
    from rigloop.sweep.plots import plot_sweep
    from rigloop.sweep.sweep import Sweep, run_sweep, units_of
    from rigloop.sweep.view import message_of, show_swept

    screen = Screen(stderr=True)
    with errors_as_lines(json):
        axes = tuple(read_axis(text) for text in set_ or ())
        points = points_of(axes, sample, method.value, seed)
        names = tuple(_there(path) for path in sources)
        are_runs = all(path.is_dir() for path in sources)
        fed = load(rig or (str(sources[0] / "rig.toml") if are_runs else "steering_wheel"))
        asked = Sweep(names, fed, axes, tuple(points), mapping, trust)
        bars = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(
            *bars, console=screen, transient=True, disable=not screen.is_terminal
        ) as shown:
            bar = shown.add_task("sweep")
            swept = run_sweep(
                asked,
                out,
                workers=workers or len(os.sched_getaffinity(0)),
                scheduler=scheduler,
                replaces=force,
                on_rows=lambda done, total: shown.update(bar, completed=done, total=total),
            )
        plots: list[Path] = []
        if plot is not None:
            with writing(plot, json):
                plots = plot_sweep(
                    swept.columns, asked.keys, [*swept.metrics], plot, units_of(fed.rig)
                )
    message = message_of(asked, swept, out, plots)

    def show() -> None:
        show_swept(asked, swept, [out, *plots], Screen())
        if plot is not None and not plots:
            line("no plot: no parameter has two values, or no metric has a number", Screen())

    answer(message, show, json, good=not swept.failed)


def _there(path: Path) -> str:
    from io_bridge.logs.formats.table import LogError

    if not path.exists():
        raise LogError(f"{path}: no such file")
    return str(path)

"""`rigloop export`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rigloop.console.answers import JsonOption, answer, errors_as_lines
from rigloop.console.screen import Screen
from rigloop.display.verdict import line

RunArgument = Annotated[Path, typer.Argument(help="Folder of a run.", readable=False)]


class To(StrEnum):
    """Formats of `rigloop export`."""

    CSV = "csv"
    PARQUET = "parquet"
    MDF = "mdf"
    MCAP = "mcap"
    HDF5 = "hdf5"
    MAT = "mat"


def export(
    run: RunArgument,
    to: Annotated[To, typer.Option(help="Format of the file.")],
    signals: Annotated[
        str | None,
        typer.Option(
            help="Only signals whose path contains this text, or matches it if the text has a star."
        ),
    ] = None,
    between: Annotated[
        tuple[float, float] | None,
        typer.Option(help="Only cycles from the first time until just before the second, s."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="File to write; by default the name of the run with the extension of the format."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    json: JsonOption = False,
) -> None:
    """Write a run's signals, units, events and facts in the format of another program.

    CSV and Parquet have one table at the times of the fastest task; the signal of a slower task keeps its newest value
    between its samples. The units and events of a CSV file are in a JSON file next to it. The other formats have a time
    axis for each task.
    """
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from io_bridge.exports.write import FORMS, write_export
    from rigloop.api.recorded_run import open_run
    from rigloop.export.measured_run import measured_run

    with errors_as_lines(json):
        opened = open_run(run)
        measured = measured_run(opened, like=signals, between_s=between)
        path = out or Path(measured.name + FORMS[to].ending)
        columns = (TextColumn(to.value), BarColumn(), TimeRemainingColumn())
        screen = Screen(stderr=True)
        is_shown = screen.is_terminal
        with Progress(*columns, console=screen, transient=True, disable=not is_shown) as progress:
            # a table has the rows of its first group
            is_table = to in (To.CSV, To.PARQUET)
            bar = progress.add_task(
                "", total=len(measured.groups[0]) if is_table else measured.n_rows
            )
            files = write_export(
                measured, to, path, replaces=force, advance=lambda n: progress.advance(bar, n)
            )
    message = {
        "run": str(run),
        "files": [str(file) for file in files],
        "bytes": sum(file.stat().st_size for file in files),
        "signals": len(measured.columns),
        "rows": {group.name: len(group) for group in measured.groups},
        "utc_ns": measured.utc_ns,
    }

    def show() -> None:
        screen = Screen()
        rows = ", ".join(f"{len(group)} rows of {group.name}" for group in measured.groups)
        line(f"{len(measured.columns)} signals, {rows}", screen)
        for file in files:
            line(str(file), screen)

    answer(message, show, json)

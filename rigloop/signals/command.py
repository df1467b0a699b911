"""`rigloop signals`: every signal of a rig as a table."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from rigloop.console.answers import JsonOption, print_json, told
from rigloop.console.run_options import RigArgument
from rigloop.console.screen import Screen

WIDE = 200  # columns where no terminal says how many it has


def signals(
    rig: RigArgument,
    like: Annotated[
        str | None,
        typer.Option(help="Only signals with this in their path, or like it where it has a star."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """List every signal of a rig: unit, writer, readers, task. Starts nothing."""
    from rigloop.compose.wiring import load
    from rigloop.signals.listing import UNKNOWN, signals_of
    from rigloop.signals.listing import like as chosen

    with told(json):
        loaded = load(rig)
        found = signals_of(loaded.rig)
    if like is not None:
        found = chosen(found, like)
    if json:
        print_json({"rig": loaded.name, "signals": [asdict(signal) for signal in found]})
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("signal", "unit", "writer", "readers", "task"):
        table.add_column(column, overflow="fold")
    for s in found:
        readers = ", ".join(s.readers) or "[dim]only recorded[/]"
        cells = (s.path, s.unit or UNKNOWN, s.writer)
        shown = readers if not s.readers else escape(readers)
        table.add_row(*(escape(cell) for cell in cells), shown, escape(s.task))
    screen = Screen()
    if not screen.is_terminal:  # for grep: a signal is a line
        screen = Screen(width=WIDE)
    screen.print(table, highlight=False)
    if not found:
        screen.print("no signal is like this; without --like all are listed", highlight=False)

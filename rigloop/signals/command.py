"""`rigloop signals`: every signal of a rig as a table."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from rigloop.console.answers import JsonOption, errors_as_lines, print_json
from rigloop.console.run_options import RigArgument
from rigloop.console.screen import Screen
from rigloop.display.tables import Cell, Table, Tone, Toned, show, words

WIDE = 200  # columns where no terminal says how many it has


def signals(
    rig: RigArgument,
    like: Annotated[
        str | None,
        typer.Option(
            help="Only signals whose path contains this text, or matches it if the text has a star."
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """List every signal of a rig: unit, writer, readers, task. Starts nothing."""
    from rigloop.compose.wiring import load
    from rigloop.signals.listing import UNKNOWN, signals_of
    from rigloop.signals.listing import like as chosen

    with errors_as_lines(json):
        loaded = load(rig)
        found = signals_of(loaded.rig)
    if like is not None:
        found = chosen(found, like)
    if json:
        print_json({"rig": loaded.name, "signals": [asdict(signal) for signal in found]})
        return
    rows: list[list[Cell]] = [
        [
            s.path,
            s.unit or UNKNOWN,
            s.writer,
            ", ".join(s.readers) or Toned("only recorded", Tone.SOFT),
            s.task,
        ]
        for s in found
    ]
    screen = Screen()
    if not screen.is_terminal:  # for grep: a signal is a line
        screen = Screen(width=WIDE)
    heads = words("signal", "unit", "writer", "readers", "task", folds=True)
    show(Table(heads, rows), screen)
    if not found:
        screen.print("no signal is like this; without --like all are listed", highlight=False)

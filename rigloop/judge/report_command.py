"""`rigloop report`: the report of a run folder again, and the verdict of a run that was cut short."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rigloop.console.answers import JsonOption, answer, errors_as_lines
from rigloop.console.screen import Screen


def report(
    folder: Annotated[
        Path,
        typer.Argument(
            help="Folder of a run, also of one that was killed at any moment.", readable=False
        ),
    ],
    json: JsonOption = False,
) -> None:
    """Write a run's report again; rebuild the verdict of one that was cut short from whatever is left.

    Of a run that was killed, the newest cycles are saved from its signal table, which is then removed. What is missing
    is said in words, and its verdict is never good.
    """
    with errors_as_lines(json):
        from rigloop.judge.rebuild import report_again

        outcome = report_again(folder)
    answer(outcome, lambda: outcome.print(Screen()), json, good=outcome.good)

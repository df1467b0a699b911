"""`rigloop report`: the report of a run folder again, and the verdict of a run that was cut short."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NoReturn

import typer

from rigloop.console.answers import JsonOption, answer, errors_as_lines, writing
from rigloop.console.screen import Screen


def report(
    folder: Annotated[
        Path,
        typer.Argument(help="Folder of a run, even of a run that was killed.", readable=False),
    ],
    other: Annotated[
        Path | None,
        typer.Argument(
            help="Second run: both runs are shown side by side on one page.", readable=False
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="File for the page of two runs; by default named after both."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Write a run's report again; for a run that was cut short, rebuild the verdict from the data that survived.

    If a run was killed, its newest cycles are saved from its signal table, which is then removed. The report lists the
    missing parts, and the verdict is never good. With two runs, the page shows both over one time axis, and lists the
    differences.
    """
    if other is not None:
        _report_both((folder, other), out, json)
    with errors_as_lines(json):
        from rigloop.judge.rebuild import report_again

        outcome = report_again(folder)
    answer(outcome, lambda: outcome.print(Screen()), json, good=outcome.good)


def _report_both(folders: tuple[Path, Path], out: Path | None, json: bool) -> NoReturn:
    from rig_configs.whole_file import write_whole
    from rigloop.display.verdict import line
    from rigloop.runs.beside import beside, page_name

    path = out or page_name(folders)
    with errors_as_lines(json):
        found, text = beside(folders)
    with writing(path, json):
        write_whole(path, text.encode())

    def show() -> None:
        screen = Screen()
        for name, run, verdict in zip("AB", found.runs, found.verdicts, strict=True):
            line(f"{name}  {verdict:4}  {run}", screen)
        line(str(path), screen)

    facts = {"page": str(path), "runs": found.runs, "verdicts": found.verdicts}
    answer(facts | {"is_equal": found.is_equal}, show, json, good=found.good)

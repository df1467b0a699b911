"""`rigloop log`."""

from __future__ import annotations

import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rigloop.console.answers import Exit, JsonOption, errors_as_lines, fail, print_json, writing
from rigloop.console.run_options import MappingOption
from rigloop.console.screen import Screen


class Unit(StrEnum):
    """Units of an angle."""

    COUNTS = "counts"
    DEG = "deg"
    RAD = "rad"
    MRAD = "mrad"
    REV = "rev"


app = typer.Typer(
    no_args_is_help=True,
    help="Examine encoder logs from any source.",
    epilog="Example: `rigloop log check run.csv --write run.toml`",
)


@app.callback()
def _log() -> None:
    """Examine encoder logs from any source."""


@app.command(epilog="Example: `rigloop log check run.csv --write run.toml`")
def check(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Logs: CSV and other text (gz, zst), MDF4, MCAP, Parquet, HDF5, MATLAB, candump, "
            "ASC, or records of rigloop.",
            readable=False,
        ),
    ],
    mapping: MappingOption = None,
    write: Annotated[
        Path | None,
        typer.Option(
            help="File for the mapping of the first log; an existing file is never overwritten."
        ),
    ] = None,
    counts: Annotated[
        float | None,
        typer.Option(min=1e-3, help="Counts of the encoder per turn, if you know them."),
    ] = None,
    period: Annotated[
        float | None,
        typer.Option(min=1e-7, max=1e3, help="Sampling period of a log that has no time, s."),
    ] = None,
    angle: Annotated[
        str | None, typer.Option(help="Column of the angle, if the guess is wrong.")
    ] = None,
    unit: Annotated[
        Unit | None, typer.Option(help="Unit of the angle, if the guess is wrong.")
    ] = None,
    dbc: Annotated[
        Path | None, typer.Option(help="DBC file with the signals of a CAN log.", readable=False)
    ] = None,
    json: JsonOption = False,
) -> None:
    """Guess how to read logs, and list every fault in them. Changes no log."""
    from io_bridge.logs.formats.table import LogError
    from rig_configs.log_schema import load_mapping
    from rigloop.logs.check import Checked, check_log, mapping_text
    from rigloop.logs.view import Going, show_checked

    checked: list[Checked] = []
    mistakes: list[str] = []
    with errors_as_lines(json):
        given = load_mapping(mapping) if mapping else None
        for file in files:
            going = Going(file)
            try:
                found, used = check_log(
                    file,
                    mapping=given,
                    counts_per_rev=counts,
                    period_s=period,
                    angle=angle,
                    unit=unit.value if unit else None,
                    dbc=dbc,
                    told=going.say,
                )
            except LogError as error:
                mistakes.append(str(error))
                continue
            finally:
                going.end()
            if write and not checked:
                with writing(write, json), write.open("x", encoding="utf-8") as file_:
                    file_.write(mapping_text(used, found.certainty))
            checked.append(found)
    if json and checked:
        print_json({"logs": checked, "mistakes": mistakes})
    elif checked:
        for found in checked:
            show_checked(found, Screen())
        if write:
            log, made = (shlex.quote(str(path)) for path in (checked[0].file, write))
            for words in (f"mapping written to {write}", f"rigloop replay {log} --mapping {made}"):
                Screen().print(words, markup=False, soft_wrap=True, highlight=False)
    if mistakes and (not checked or not json):
        fail(mistakes, Exit.WRONG_INPUT, json)
    is_good = all(found.good for found in checked) and not mistakes
    raise typer.Exit(
        int(Exit.GOOD if is_good else Exit.WRONG_INPUT if mistakes else Exit.BAD_VERDICT)
    )

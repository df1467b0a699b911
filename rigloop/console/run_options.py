"""Arguments that all commands share that run a rig."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rigloop.run_folder.messages import Mode

RigArgument = Annotated[
    str, typer.Argument(help="Name of a shipped rig, or the path of a rig file.")
]
BusOption = Annotated[
    str | None,
    typer.Option(
        help="`simulated` (in-process), `veth` (real frames on a pair of its own), or a network "
        "interface; for a rig with several buses `NAME=BACKEND,...`."
    ),
]
GuardOption = Annotated[
    str | None,
    typer.Option("--guard", help="Axis, by the name of its guard, if the rig has several."),
]
ModeOption = Annotated[
    Mode,
    typer.Option(
        help="Reaction to red checks of the doctor: `strict` refuses to start, `degraded` runs and "
        "says so everywhere."
    ),
]
TrustOption = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Trust the code of the rig's own blocks as it is now: it runs with your rights, in "
        "real time. Read it first. One consent lasts until the code changes.",
    ),
]
PageOption = Annotated[
    bool,
    typer.Option(
        "--report/--no-report",
        help="Write `report.html` into the run folder at once, or leave it to `rigloop report "
        "FOLDER`.",
    ),
]
MappingOption = Annotated[
    Path | None,
    typer.Option(
        "--mapping",
        help="Mapping file of the log; by default chosen by the log's header.",
        readable=False,
    ),
]
# a file that may not be read is said by its reader, in a line and as JSON: paths to read have readable=False
RunsOption = Annotated[Path, typer.Option("--runs", help="Folder in which the run folder is made.")]

"""Arguments that all commands share that run a rig."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rigloop.run_folder.messages import Mode

RigArgument = Annotated[
    str, typer.Argument(help="Name of a rig that ships, or the path of a rig file.")
]
BusOption = Annotated[
    str | None,
    typer.Option(
        help="`simulated` (in-process), `veth` (real frames on a pair of its own), or an interface; "
        "of a rig with several buses `NAME=BACKEND,...`."
    ),
]
GuardOption = Annotated[
    str | None, typer.Option("--guard", help="The axis, by its guard, in a rig with several.")
]
ModeOption = Annotated[
    Mode,
    typer.Option(
        help="With red checks of the doctor: `strict` refuses to start, `degraded` runs and says so everywhere."
    ),
]
TrustOption = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Trust the code of the rig's own blocks, for the bytes that they have now: it runs as you, in real time. "
        "Once for each; read it before.",
    ),
]
PageOption = Annotated[
    bool,
    typer.Option(
        "--report/--no-report",
        help="Whether the run folder gets `report.html` at once; `rigloop report FOLDER` makes it later.",
    ),
]
MappingOption = Annotated[
    Path | None,
    typer.Option(
        "--mapping",
        help="Mapping file of the log; chosen by the log's header if not given.",
        readable=False,
    ),
]
# a file that may not be read is said by its reader, in a line and as JSON: paths to read have readable=False
RunsOption = Annotated[Path, typer.Option("--runs", help="Folder that gets the run folder.")]

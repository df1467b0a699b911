"""The command line: arguments in, one exit code out; the work is in the modules that it calls."""

from __future__ import annotations

from enum import IntEnum
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Hard real-time multibody simulation for hardware-in-the-loop rigs.",
    epilog="Exit codes: 0 good, 1 the verdict is bad, 2 wrong input, 3 could not start.",
)


class Exit(IntEnum):
    """Exit codes of every command."""

    GOOD = 0
    BAD_VERDICT = 1
    WRONG_INPUT = 2
    NOT_STARTED = 3


RigArgument = Annotated[
    str, typer.Argument(help="Name of a rig that ships, or the path of a rig file.")
]
RunsOption = Annotated[Path, typer.Option("--runs", help="Folder that gets the run folder.")]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object instead of tables.")
]


@app.command(epilog="Example: `rigloop run steering_wheel --for 10`")
def run(
    rig: RigArgument,
    for_s: Annotated[
        float | None,
        typer.Option(
            "--for", min=0.1, max=86_400, help="Seconds to run; until Ctrl-C if not given."
        ),
    ] = None,
    bus: Annotated[
        str | None,
        typer.Option(
            help="`simulated` (in-process), `veth` (real frames on a pair of its own), or an interface."
        ),
    ] = None,
    runs: RunsOption = Path("runs"),
    json: JsonOption = False,
) -> None:
    """Run a rig live: arm it, show what it does, ramp out, and judge the run."""
    from rigloop.supervise import NotStartedError, run_live

    console = Console(stderr=json)
    with _told(json):
        try:
            outcome = run_live(_load(rig), seconds=for_s, bus=bus, runs=runs, console=console)
        except NotStartedError as error:
            _fail(str(error), Exit.NOT_STARTED, json)
    _finish(outcome, console, json)


@app.command(epilog="Example: `rigloop replay log.csv --rig steering_wheel`")
def replay(
    log: Annotated[
        Path, typer.Argument(help="A logged encoder file (CSV), or the folder of a recorded run.")
    ],
    rig: Annotated[
        str | None, typer.Option(help="Rig to feed; the recorded one, else steering_wheel.")
    ] = None,
    mapping: Annotated[
        Path | None,
        typer.Option(help="Mapping file of the log; chosen by the log's header if not given."),
    ] = None,
    runs: RunsOption = Path("runs"),
    json: JsonOption = False,
) -> None:
    """Feed a log, or a recorded run, through the same filter and kernel, without a clock."""
    from rigloop.replay import replay_log, replay_run

    console = Console(stderr=json)
    with _told(json):
        if log.is_dir():
            outcome = replay_run(log, runs=runs, console=console)
        else:
            outcome = replay_log(
                log, _load(rig or "steering_wheel"), mapping=mapping, runs=runs, console=console
            )
    _finish(outcome, console, json)


@app.command(epilog="Example: `rigloop check my_rig.toml`")
def check(rig: RigArgument, json: JsonOption = False) -> None:
    """Check a rig file: schema, tasks, wiring. Starts nothing."""
    with _told(json):
        loaded = _load(rig)
    if json:
        typer.echo(
            msgspec.json.encode({"rig": loaded.name, "sha256": loaded.sha256, "mistakes": []})
        )
    else:
        Console().print(f"[green]good[/]  {loaded.path}: {loaded.rig.title}")

"""The command line: arguments in, one exit code out; the work is in the modules that it calls."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import msgspec
import typer
from rich.console import Console
from rich.markup import escape

from rigloop.model import app as model_app
from rigloop.order import Mode

if TYPE_CHECKING:
    from rig_configs.load import LoadedRig
    from rigloop.outcome import Outcome

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Hard real-time multibody simulation for hardware-in-the-loop rigs.",
    epilog="Exit codes: 0 good, 1 the verdict is bad or a check is red, 2 wrong input, 3 could not start.",
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
    telemetry: Annotated[
        str | None,
        typer.Option(
            help="Publish the newest signals over ZeroMQ here, such as `tcp://127.0.0.1:9872`."
        ),
    ] = None,
    mode: Annotated[
        Mode,
        typer.Option(
            help="With red checks of the doctor: `strict` refuses to start, `degraded` runs and says so everywhere."
        ),
    ] = Mode.DEGRADED,
    runs: RunsOption = Path("runs"),
    json: JsonOption = False,
) -> None:
    """Run a rig live: arm it, show what it does, ramp out, and judge the run."""
    from rigloop.children import cycle_process

    console = Console(stderr=json)
    with cycle_process() as cycle, _told(json):
        from rigloop.supervise import run_live

        outcome = run_live(
            _load(rig),
            cycle,
            seconds=for_s,
            bus=bus,
            telemetry=telemetry,
            mode=mode,
            runs=runs,
            console=console,
        )
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
        _print_json({"rig": loaded.name, "sha256": loaded.sha256, "mistakes": []})
    else:
        words = escape(f"{loaded.path}: {loaded.rig.title}")
        Console().print(f"[green]good[/]  {words}", soft_wrap=True, highlight=False)


@app.command(epilog="Example: `rigloop doctor steering_wheel`")
def doctor(
    rig: Annotated[
        str | None, typer.Argument(help="Look with the eyes of this rig: its cores, periods, bus.")
    ] = None,
    bus: Annotated[
        str | None, typer.Option(help="As for `run`; an interface is looked at closely.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Look at this machine: what keeps a run from being on time, why, and what to do. Changes nothing."""
    from rigloop.doctor import demands_of, demands_without_rig, examine
    from rigloop.doctor_view import as_message, show
    from rt_core.doctor.check import is_good

    with _told(json):
        demands = demands_of(_load(rig).rig, bus) if rig else demands_without_rig(bus)
        checks = examine(demands)
    if json:
        _print_json(as_message(checks, rig, bus))
    else:
        show(checks, Console())
    raise typer.Exit(int(Exit.GOOD if is_good(checks) else Exit.BAD_VERDICT))


def _load(rig: str) -> LoadedRig:
    from rigloop.wiring import load

    return load(rig)


@contextmanager
def _told(json: bool) -> Iterator[None]:
    """Turn the errors that a user can mend into lines and an exit code; any other one is a bug and shows."""
    from codegen.build import BuildError
    from codegen.verify import VerificationError
    from io_bridge.log_reader import LogError
    from rig_configs.log_schema import MappingError
    from rig_configs.mistakes import ConfigError
    from rigloop.errors import NotStartedError
    from rigloop.manifest import ManifestError

    try:
        yield
    except ConfigError as error:
        _fail([str(mistake) for mistake in error.mistakes], Exit.WRONG_INPUT, json)
    except (LogError, MappingError, ManifestError) as error:
        _fail([str(error)], Exit.WRONG_INPUT, json)
    except (BuildError, VerificationError) as error:
        _fail([str(error)], Exit.NOT_STARTED, json)
    except NotStartedError as error:
        _fail(str(error).splitlines(), Exit.NOT_STARTED, json)


def _fail(lines: list[str], code: Exit, json: bool) -> NoReturn:
    if json:
        _print_json({"mistakes": lines, "exit_code": int(code)})
    else:
        for line in lines:
            typer.echo(line, err=True)
    raise typer.Exit(int(code))


def _finish(outcome: Outcome, console: Console, json: bool) -> NoReturn:
    if json:
        _print_json(outcome)
    else:
        outcome.print(console)
    raise typer.Exit(int(Exit.GOOD if outcome.good else Exit.BAD_VERDICT))


def _print_json(message: object) -> None:
    typer.echo(msgspec.json.format(msgspec.json.encode(message)).decode())


app.add_typer(model_app, name="model")


def main() -> None:
    """Entry point of the `rigloop` command."""
    # looking for plugins in every installed package takes longer than reading a rig
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    app()

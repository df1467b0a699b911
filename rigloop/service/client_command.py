"""`rigloop service`: the commands of a person at a terminal to a service that runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from rigloop.console.answers import JsonOption, answer
from rigloop.console.lazy_commands import ANY_COMMAND
from rigloop.console.screen import Screen, say
from rigloop.display.tables import facts, show
from rigloop.service import live_commands
from rigloop.service.at_service import (
    KeyOption,
    OverOption,
    RigOption,
    ServiceOption,
    at_service,
    in_control,
)

if TYPE_CHECKING:
    from rigloop.protocol.answers import RigStatus
    from rigloop.protocol.client import ServiceClient

app = typer.Typer(
    no_args_is_help=True,
    help="Ask a service that `rigloop serve` has started, and control its rigs.",
    epilog="Example: `rigloop service status`",
    **ANY_COMMAND,
)
SecondsOption = Annotated[
    float | None,
    typer.Option("--for", min=0.1, max=86_400, help="End the run this time after arming."),
]
LONGEST_S = 120.0  # a kernel may have to be compiled first
LOOK_S = 0.05


@app.command(epilog="Example: `rigloop service status`")
def status(service: ServiceOption = "", key: KeyOption = "", json: JsonOption = False) -> None:
    """Show each rig: phase, guards, run, and who is in control."""
    from rigloop.protocol.requests import Status

    with at_service(service, key, json) as client:
        found = client.ask(Status)
    answer(msgspec.to_builtins(found), lambda: _show(*found), json)


@app.command(epilog="Example: `rigloop service start`")
def start(
    service: ServiceOption = "", key: KeyOption = "", rig: RigOption = "",
    for_s: SecondsOption = None, over: OverOption = False, json: JsonOption = False,
) -> None:  # fmt: skip
    """Start a run without torque; its drives stay disabled until `arm`."""
    from rigloop.protocol.requests import Start

    _controlled((service, key, rig, over), json, Start, {"seconds": for_s}, ("waiting", "idle"))


@app.command(epilog="Example: `rigloop service arm --for 60`")
def arm(
    service: ServiceOption = "", key: KeyOption = "", rig: RigOption = "",
    for_s: SecondsOption = None, over: OverOption = False, json: JsonOption = False,
) -> None:  # fmt: skip
    """Enable the drives and arm; return once the torque follows."""
    from rigloop.protocol.requests import Arm

    _controlled((service, key, rig, over), json, Arm, {"seconds": for_s}, ("armed", "idle"))


@app.command(epilog="Example: `rigloop service stop`")
def stop(
    service: ServiceOption = "", key: KeyOption = "", rig: RigOption = "",
    over: OverOption = False, json: JsonOption = False,
) -> None:  # fmt: skip
    """Ramp the torque out, end the run, and print its verdict. This is not an emergency stop."""
    from rigloop.protocol.requests import Stop

    _controlled((service, key, rig, over), json, Stop, {}, ("idle",))


@app.command(epilog="Example: `rigloop service reset --drives`")
def reset(
    service: ServiceOption = "", key: KeyOption = "", rig: RigOption = "",
    drives: Annotated[
        bool, typer.Option("--drives", help="Reset drives that are in their fault state at the next "
                                            "start.")
    ] = False,
    over: OverOption = False, json: JsonOption = False,
) -> None:  # fmt: skip
    """Acknowledge that a run has tripped or failed. The service starts no other run before that."""
    from rigloop.protocol.requests import Reset

    _controlled((service, key, rig, over), json, Reset, {"drives": drives}, ("idle",))


app.command(epilog="Example: `rigloop service read wheel/angle_rad guard/torque_nm`")(
    live_commands.read
)
app.command(epilog="Example: `rigloop service live assistance=0.5 'preload=1.5 Nm'`")(
    live_commands.live
)
app.command(epilog="Example: `rigloop service stimulate shake`")(live_commands.stimulate)


@app.command(epilog="Example: `rigloop service shutdown`")
def shutdown(
    service: ServiceOption = "", key: KeyOption = "", over: OverOption = False,
    json: JsonOption = False,
) -> None:  # fmt: skip
    """End all runs and the service."""
    from rigloop.protocol.requests import Shutdown, Take

    with at_service(service, key, json) as client:
        rigs = client.hello.rigs if over else []
        tokens = {rig: client.ask(Take, rig=rig, over=True).token for rig in rigs}
        client.ask(Shutdown, tokens=tokens)
    answer({"shutdown": True}, lambda: say("the service ends"), json)


def _controlled(
    whom: tuple[str, str, str, bool],
    json: bool,
    command: Any,
    keys: dict[str, Any],
    phases: tuple[str, ...],
) -> None:
    """Take control, do a command, wait for its phase, and give control back."""
    from rigloop.protocol.requests import Verdict

    service, key, rig, over = whom
    with at_service(service, key, json) as client:
        runs_before = client.status(rig).n_runs
        with in_control(client, rig, over) as token:
            client.ask(command, rig=rig, token=token, **keys)
            found = _until(client, rig, lambda one: one.phase in phases)
        # control is given back
        found = msgspec.structs.replace(found, control=client.status(rig).control)
        ended = found.phase == "idle" and (found.n_runs > runs_before or command.__name__ == "Stop")
        last = client.ask(Verdict, rig=rig) if ended else None
    facts_of = msgspec.to_builtins(found) | ({"last": msgspec.to_builtins(last)} if last else {})
    good = last is None or bool(last.outcome and last.outcome["good"])

    def shown() -> None:
        _show(found)
        if last is not None and not good:
            for line in [last.error] if last.error else last.outcome["reasons"]:
                say(line)

    answer(facts_of, shown, json, good=good)


def _until(client: ServiceClient, rig: str, is_it: Callable[[RigStatus], bool]) -> RigStatus:
    until = time.monotonic() + LONGEST_S
    while not is_it(found := client.status(rig)) and time.monotonic() < until:
        time.sleep(LOOK_S)
    return found


def _show(*rigs: RigStatus) -> None:
    for one in rigs:
        rows = [
            ("phase", one.phase.value, one.state),
            ("in control", one.control or "nobody", ""),
            ("run", one.folder or "none yet", f"{one.t_s:.1f} s" if one.t_s else ""),
        ]
        rows += [("reset", one.needs_reset, "")] if one.needs_reset else []
        say(one.rig)
        show(facts(rows), Screen())

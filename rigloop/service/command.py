"""`rigloop serve`: one or several rigs, unattended, for clients that look and one that controls."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rigloop.console import interrupts
from rigloop.console.answers import Exit, errors_as_lines, fail
from rigloop.console.run_options import BusOption, ModeOption, PageOption, RunsOption, TrustOption
from rigloop.console.screen import say
from rigloop.run_folder.messages import Mode


def serve(
    rigs: Annotated[
        list[str], typer.Argument(help="Names of shipped rigs, or paths of rig files.")
    ],
    name: Annotated[
        str | None,
        typer.Option(
            help="Name of the service and of its socket; by default the name of the first rig."
        ),
    ] = None,
    tcp: Annotated[
        str | None,
        typer.Option(
            help="Also listen at this address, such as `tcp://0.0.0.0:9873`, for clients whose keys "
            "`rigloop keys` has authorised."
        ),
    ] = None,
    bus: BusOption = None,
    mode: ModeOption = Mode.DEGRADED,
    trust: TrustOption = False,
    page: PageOption = True,
    runs: RunsOption = Path("runs"),
) -> None:
    """Serve rigs unattended: clients look on, and one of them at a time arms and stops. No rig arms by itself."""
    from io_bridge.doorway.local_socket import DoorError, local_endpoint
    from rig_configs.plain import file_name
    from rigloop.compose.consent import require_consent
    from rigloop.compose.wiring import load
    from rigloop.service.arbitration import reserved
    from rigloop.service.process import ServiceOptions, serve
    from rigloop.service.sessions import RunChoices

    with errors_as_lines(json=False):
        loaded = [load(rig) for rig in rigs]
        for one in loaded:
            require_consent(one, trusts=trust)
    twice = sorted({one.name for one in loaded if [o.name for o in loaded].count(one.name) > 1})
    if twice:
        fail(
            [f"{', '.join(twice)}: given twice; each rig has a name of its own"],
            Exit.WRONG_INPUT,
            False,
        )
    called = name if name is not None else file_name(loaded[0].name, "rig")
    try:
        options = ServiceOptions(
            called,
            local_endpoint(called),
            RunChoices(runs.absolute(), bus, mode.value, page),
            tcp,
        )
        with (
            errors_as_lines(json=False),
            reserved(called, loaded, bus),
            interrupts.collected() as interrupted,
        ):
            serve(loaded, options, interrupted, lambda at: say(f"{called}: {', '.join(at)}"))
    except DoorError as error:
        fail([str(error)], Exit.NOT_STARTED, False)

"""`rigloop monitor`: one page in a browser that looks into a rig, a service or a recorded run."""

from __future__ import annotations

import sys
import webbrowser
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from rigloop.console import interrupts
from rigloop.console.answers import Exit, fail
from rigloop.console.screen import say

if TYPE_CHECKING:
    from rigloop.monitor.opening import Target

PORT = 9874
TUI_NEEDS = "rigloop monitor --tui needs textual: pip install 'rigloop[tui]'"
NEEDS = "rigloop monitor needs starlette, uvicorn and websockets: pip install 'rigloop[page]'"


def monitor(
    target: Annotated[
        str,
        typer.Argument(
            help="Service, or rig that it serves; `tcp://HOST:PORT`, or a run folder. By default "
            "the only service."
        ),
    ] = "",
    rig: Annotated[str, typer.Option("--rig", help="Rig, if the service has several.")] = "",
    key: Annotated[
        str,
        typer.Option(
            "--key",
            help="Name of the service's key as `rigloop keys list` shows it, for "
            "a service over TCP.",
        ),
    ] = "",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port, on this machine only; 0: any free port.")
    ] = PORT,
    tui: Annotated[
        bool,
        typer.Option(
            "--tui", help="Show it on this terminal instead of in a browser; also works over ssh."
        ),
    ] = False,
    foxglove: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            help="Port for Foxglove and Lichtblick, on this machine only; 0: any free port.",
        ),
    ] = None,
    browser: Annotated[
        bool,
        typer.Option("--browser/--no-browser", help="Open the page, or only print its address."),
    ] = True,
) -> None:
    """Open one page in a browser: the moving mechanism, strips of any signals, guard, bus, live values, arm and stop.

    The page is for this machine only, and its address contains a secret. Its server talks to the rig in the same way as
    any other client.
    """
    if tui:
        _on_terminal(target, rig, key)
        return
    try:
        from rigloop.monitor.app import listen, serve_pages
    except ImportError as error:
        fail([f"{NEEDS} ({error})"], Exit.NOT_STARTED, False)
    from rigloop.monitor.session import Session
    from rigloop.monitor.web.gate import LOOPBACK, kept_token, opening_page

    found = _found(target, rig, key)
    try:
        listening = listen(port)
    except OSError as error:
        fail([f"--port {port}: {error.strerror}; give another, or 0"], Exit.NOT_STARTED, False)
    door = None
    if foxglove is not None:
        from rigloop.monitor.foxglove.door import FoxgloveDoor, secret_of

        try:
            other = listen(foxglove)
        except OSError as error:
            words = f"--foxglove {foxglove}: {error.strerror}; give another, or 0"
            fail([words], Exit.NOT_STARTED, False)
    try:
        token = kept_token()
        url = f"http://{LOOPBACK}:{listening.getsockname()[1]}/?token={token}"
        say(f"{found.name}: {url}")
        if foxglove is not None:
            place = other.getsockname()[1]
            door = (FoxgloveDoor(found.open).gate(place, token), other)
            say(f"Foxglove, Lichtblick: ws://{LOOPBACK}:{place}/?token={secret_of(token)}")
        if browser:
            webbrowser.open(opening_page(url).as_uri())
    except OSError as error:
        fail([str(error)], Exit.NOT_STARTED, False)
    others = [] if door is None else [(door[0], door[1])]
    with listening, interrupts.collected() as interrupted:
        serve_pages(
            partial(Session, found.open, found.layout), listening, token, interrupted, others
        )


def _on_terminal(target: str, rig: str, key: str) -> None:
    try:
        from rigloop.monitor.terminal.screen import Monitor
    except ImportError as error:
        fail([f"{TUI_NEEDS} ({error})"], Exit.NOT_STARTED, False)
    from rigloop.monitor.terminal.looker import Looker

    if not sys.stdout.isatty():
        fail(["--tui: the output is not a terminal"], Exit.WRONG_INPUT, False)
    Monitor(Looker(_found(target, rig, key).open)).run()


def _found(target: str, rig: str, key: str) -> Target:
    """Return what there is to look at, from processors beside it: whoever mistypes a name learns it here."""
    from rigloop.host.placing import stay_beside
    from rigloop.monitor.opening import target_of
    from rigloop.monitor.sources.source import SourceGoneError

    try:
        found = target_of(target, rig, key)
        source = found.open()
    except SourceGoneError as error:
        fail([str(error)], Exit.WRONG_INPUT, False)
    try:
        if found.is_here and source.kind != "record":
            stay_beside(source.description.tasks)
    finally:
        source.close()
    return found

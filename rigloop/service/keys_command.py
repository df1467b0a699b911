"""`rigloop keys`: the keys that a service on TCP and its clients know each other by."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from rigloop.console.answers import Exit, JsonOption, answer, fail
from rigloop.console.lazy_commands import ANY_COMMAND
from rigloop.console.screen import Screen, say
from rigloop.display.tables import facts, show

app = typer.Typer(
    no_args_is_help=True,
    help="Make, list, authorise and revoke the keys of services on TCP and of their clients.",
    epilog="Example: `rigloop keys authorise lab_pc 'PUBLIC KEY'`",
    **ANY_COMMAND,
)


@app.command(epilog="Example: `rigloop keys new`")
def new(json: JsonOption = False) -> None:
    """Make your own key pair, for your services and for you as a client, and print the public key."""
    from io_bridge.doorway.keys import key_folder, new_pair

    with _key_errors(json):
        pair = new_pair(key_folder())
    answer({"public": pair.public}, lambda: say(pair.public), json)


@app.command("list", epilog="Example: `rigloop keys list`")
def list_(json: JsonOption = False) -> None:
    """List your own public key, and the keys that you have authorised."""
    from io_bridge.doorway.keys import OWN, authorised, key_folder, own_pair

    with _key_errors(json):
        folder = key_folder()
        own = own_pair(folder).public if (folder / OWN).exists() else ""
        known = dict(authorised(folder))
    rows = [("your own", own or "none: `rigloop keys new`", "")]
    rows += [(name, key, "authorised") for name, key in known.items()]
    answer({"own": own, "authorised": known}, lambda: show(facts(rows), Screen()), json)


@app.command(epilog="Example: `rigloop keys authorise lab_pc 'PUBLIC KEY'`")
def authorise(
    name: Annotated[str, typer.Argument(help="Name that the journal shows.")],
    public: Annotated[str, typer.Argument(help="Public key, of 40 characters.")],
    json: JsonOption = False,
) -> None:
    """Authorise a public key: of a client that may connect over TCP, or of a service that you ask."""
    from io_bridge.doorway.keys import authorise, key_folder

    with _key_errors(json):
        authorise(key_folder(), name, public)
    answer({"authorised": name}, lambda: say(f"{name}: may come in"), json)


@app.command(epilog="Example: `rigloop keys revoke lab_pc`")
def revoke(
    name: Annotated[str, typer.Argument(help="Name of an authorised key.")],
    json: JsonOption = False,
) -> None:
    """Revoke a public key: running services no longer admit its owner."""
    from io_bridge.doorway.keys import key_folder, revoke

    with _key_errors(json):
        revoke(key_folder(), name)
    answer({"revoked": name}, lambda: say(f"{name}: may not come in any more"), json)


@contextmanager
def _key_errors(json: bool) -> Iterator[None]:
    from io_bridge.doorway.local_socket import DoorError

    try:
        yield
    except DoorError as error:
        fail([str(error)], Exit.WRONG_INPUT, json)

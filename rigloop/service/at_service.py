"""A person at a terminal at a service: the options that say which, the connection, and control for one command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated

import typer

from rigloop.console.answers import Exit, fail

if TYPE_CHECKING:
    from rigloop.protocol.client import ServiceClient

ServiceOption = Annotated[
    str,
    typer.Option(
        "--service", help="Name of the service, or `tcp://HOST:PORT`; by default the only service."
    ),
]
KeyOption = Annotated[
    str,
    typer.Option(
        "--key",
        help="Name of the service's key as `rigloop keys list` shows it, for a service over TCP.",
    ),
]
RigOption = Annotated[str, typer.Option("--rig", help="Rig, if the service has several.")]
OverOption = Annotated[
    bool,
    typer.Option(
        "--take-over", help="Take control even if another client has it; that client is notified."
    ),
]


@contextmanager
def at_service(service: str, key: str, json: bool) -> Iterator[ServiceClient]:
    """Connect to a service, the only one if it has no name; refusals become lines and an exit code."""
    from rigloop.protocol.client import ServiceClient, ServiceError, only_service

    try:
        with ServiceClient(service or only_service(), key=key) as client:
            yield client
    except ServiceError as error:
        code = Exit.NOT_STARTED if error.why is None else Exit.WRONG_INPUT
        fail([str(error)], code, json)
    except TimeoutError as error:
        fail([str(error)], Exit.NOT_STARTED, json)


@contextmanager
def in_control(client: ServiceClient, rig: str, over: bool) -> Iterator[str]:
    """Take control of a rig, also from another client if `over`; yield the token, and give control back."""
    from rigloop.protocol.client import ServiceError
    from rigloop.protocol.requests import Give, Take

    token = client.ask(Take, rig=rig, over=over).token
    try:
        yield token
    finally:
        # another client may have taken it over meanwhile
        with suppress(ServiceError):
            client.ask(Give, rig=rig, token=token)

"""The websocket of a viewer: on this machine only, by either name of the protocol, with a secret in its address."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket

from rigloop.monitor.foxglove.viewer import Viewer
from rigloop.monitor.sources.source import Source
from rigloop.monitor.web.gate import Gate
from rigloop.monitor.web.turns import serve_turns

NAMES = ("foxglove.sdk.v1", "foxglove.websocket.v1")
TURN_S = 1 / 50
MOST_VIEWERS = 4
BUSY, NOT_SPOKEN = 1013, 1002


def secret_of(token: str) -> str:
    """Return the secret of this door, from which that of the page does not follow: a viewer may be of another site."""
    return hashlib.sha256(f"foxglove {token}".encode()).hexdigest()[:43]


class FoxgloveDoor:
    """The application of the door.

    Parameters
    ----------
    open_source : callable
        It returns a source of its own for each viewer.
    """

    def __init__(self, open_source: Callable[[], Source]) -> None:
        self._open = open_source
        self.n_open = 0

    def gate(self, port: int, token: str) -> Gate:
        """Return the application behind its gate."""
        app = Starlette(routes=[WebSocketRoute("/", self._socket)])
        return Gate(app, port, secret_of(token), any_origin=True)

    async def _socket(self, socket: WebSocket) -> None:
        offered = socket.scope.get("subprotocols", [])
        name = next((one for one in offered if one in NAMES), None)
        await socket.accept(subprotocol=name)
        if name is None:
            await socket.close(NOT_SPOKEN, f"this server speaks {' and '.join(NAMES)}")
            return
        if self.n_open >= MOST_VIEWERS:
            await socket.close(BUSY, f"{MOST_VIEWERS} viewers are there already")
            return
        self.n_open += 1
        try:
            await serve_turns(socket, Viewer(self._open), TURN_S)
        finally:
            self.n_open -= 1

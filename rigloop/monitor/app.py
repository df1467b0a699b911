"""The web server of a page: its files, and one websocket for each page that is open."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator, Sequence
from importlib.resources import as_file, files
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket

from rigloop.monitor.messages import MOST_BYTES
from rigloop.monitor.session import Session
from rigloop.monitor.web.gate import LOOPBACK, App, Gate
from rigloop.monitor.web.turns import serve_turns

TURN_S = 0.05
MOST_PAGES = 8
BUSY = 1013


class Pages:
    """The application: files, and sessions.

    Parameters
    ----------
    new_session : callable
    folder : Path
        Of the files.
    """

    def __init__(self, new_session: Callable[[], Session], folder: Path) -> None:
        self._new_session, self._folder = new_session, folder
        self.n_open = 0

    def app(self) -> App:
        """Return the application, without the gate."""
        routes = [
            Route("/", self._page),
            WebSocketRoute("/ws", self._socket),
            Mount("/static", StaticFiles(directory=self._folder)),
        ]
        return GZipMiddleware(Starlette(routes=routes), minimum_size=1000)

    async def _page(self, request: Request) -> Response:
        return FileResponse(self._folder / "page.html", media_type="text/html")

    async def _socket(self, socket: WebSocket) -> None:
        await socket.accept()
        if self.n_open >= MOST_PAGES:
            await socket.close(BUSY, f"{MOST_PAGES} pages are open already")
            return
        self.n_open += 1
        try:
            await serve_turns(socket, self._new_session(), TURN_S)
        finally:
            self.n_open -= 1


class _Server(uvicorn.Server):
    """A server that leaves signals to the command."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def listen(port: int) -> socket.socket:
    """Return a socket that listens on loopback; port 0 takes any that is free.

    Raises
    ------
    OSError
        The port is taken.
    """
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((LOOPBACK, port))
        found.listen(64)  # whoever has the address is answered, if late
    except OSError:
        found.close()
        raise
    return found


def serve_pages(
    new_session: Callable[[], Session],
    listening: socket.socket,
    token: str,
    interrupted: Sequence[int],
    others: Sequence[tuple[App, socket.socket]] = (),
) -> None:
    """Serve pages until a signal comes; `others` are applications behind sockets of their own."""
    with as_file(files("rigloop.monitor") / "static") as folder:
        gate = Gate(Pages(new_session, folder).app(), listening.getsockname()[1], token)
        asyncio.run(_until([(gate, listening), *others], interrupted))


def _server(app: App) -> _Server:
    return _Server(
        uvicorn.Config(
            app,
            lifespan="off",
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            ws="websockets-sansio",
            ws_max_size=MOST_BYTES,
            ws_max_queue=8,
            ws_per_message_deflate=False,
            limit_concurrency=64,
            timeout_graceful_shutdown=2,
        )
    )


async def _until(doors: Sequence[tuple[App, socket.socket]], interrupted: Sequence[int]) -> None:
    servers = [(_server(app), listening) for app, listening in doors]
    serving = [
        asyncio.create_task(server.serve(sockets=[listening])) for server, listening in servers
    ]
    while not all(task.done() for task in serving):
        for server, _ in servers:
            server.should_exit = server.should_exit or bool(interrupted)
        await asyncio.wait(serving, timeout=0.1)
    await asyncio.gather(*serving)

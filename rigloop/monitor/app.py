"""The web server of a page: its files, and one websocket for each page that is open."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import as_file, files
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

from rigloop.monitor.gate import LOOPBACK, App, Gate
from rigloop.monitor.messages import MOST_BYTES
from rigloop.monitor.session import Frame, Session

TURN_S = 0.05
SEND_S = 10.0  # for a page that does not take what it is sent
MOST_PAGES = 8
MOST_WAITING = 100  # messages that a page may have sent and that were not read yet
BUSY, TOO_MANY = 1013, 1008


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
        # the sockets of a session belong to one thread
        thread = ThreadPoolExecutor(1, thread_name_prefix="page")
        session = self._new_session()
        try:
            await _serve(socket, session, thread)
        finally:
            self.n_open -= 1
            thread.submit(session.close)
            thread.shutdown(wait=False)


async def _serve(socket: WebSocket, session: Session, thread: ThreadPoolExecutor) -> None:
    heard: list[str] = []
    loop = asyncio.get_running_loop()
    hearing = asyncio.create_task(_hear(socket, heard))
    try:
        while not hearing.done():
            due = loop.time() + TURN_S
            raws, heard[:] = list(heard), []
            for message in await loop.run_in_executor(thread, session.turn, raws):
                await asyncio.wait_for(_send(socket, message), SEND_S)
            await asyncio.wait([hearing], timeout=max(0.0, due - loop.time()))
    except (WebSocketDisconnect, TimeoutError, RuntimeError):
        # the page is gone, or takes nothing any more
        return
    finally:
        hearing.cancel()
        with contextlib.suppress(asyncio.CancelledError, WebSocketDisconnect, RuntimeError):
            await hearing


async def _send(socket: WebSocket, message: Frame) -> None:
    if isinstance(message, str):
        await socket.send_text(message)
    else:
        await socket.send_bytes(message)


async def _hear(socket: WebSocket, heard: list[str]) -> None:
    while len(heard) < MOST_WAITING:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        heard.append(message.get("text") or "")
    await socket.close(TOO_MANY, "too many messages at once")


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
) -> None:
    """Serve pages until a signal comes."""
    with as_file(files("rigloop.monitor") / "static") as folder:
        gate = Gate(Pages(new_session, folder).app(), listening.getsockname()[1], token)
        config = uvicorn.Config(
            gate,
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
        server = _Server(config)
        asyncio.run(_until(server, listening, interrupted))


async def _until(
    server: uvicorn.Server, listening: socket.socket, interrupted: Sequence[int]
) -> None:
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    while not serving.done():
        server.should_exit = server.should_exit or bool(interrupted)
        await asyncio.wait([serving], timeout=0.1)
    await serving

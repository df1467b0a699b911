"""A websocket served in turns: what it was sent since the last one goes in, what it has to be sent comes out."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from starlette.websockets import WebSocket, WebSocketDisconnect

SEND_S = 10.0  # for a page that does not take what it is sent
MOST_WAITING = 100  # messages that a page may have sent and that were not read yet
TOO_MANY = 1008
Frame = str | bytes


class Turning(Protocol):
    """A client behind a socket."""

    def turn(self, raws: Sequence[str]) -> list[Frame]:
        """Do what was asked for, and return what has to be sent now."""

    def close(self) -> None:
        """Leave. Harmless when repeated."""


async def serve_turns(socket: WebSocket, session: Turning, turn_s: float) -> None:
    """Serve a socket until it is gone, in turns no closer than `turn_s`; all of them in one thread."""
    # the sockets of a session belong to one thread
    thread = ThreadPoolExecutor(1, thread_name_prefix="page")
    heard: list[str] = []
    loop = asyncio.get_running_loop()
    hearing = asyncio.create_task(_hear(socket, heard))
    try:
        while not hearing.done():
            due = loop.time() + turn_s
            raws, heard[:] = list(heard), []
            for message in await loop.run_in_executor(thread, session.turn, raws):
                await asyncio.wait_for(_send(socket, message), SEND_S)
            await asyncio.wait([hearing], timeout=max(0.0, due - loop.time()))
    except (WebSocketDisconnect, TimeoutError, RuntimeError):
        # the page is gone, or takes nothing any more
        return
    finally:
        hearing.cancel()
        thread.submit(session.close)
        thread.shutdown(wait=False)
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

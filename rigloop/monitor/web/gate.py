"""The gate of the page: only this machine comes in, by its own name, from the page itself, with the token."""

from __future__ import annotations

import secrets
import stat
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from io_bridge.doorway.local_socket import private_folder, runtime_folder
from rig_configs.whole_file import write_whole

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = "127.0.0.1"
HOSTS = (LOOPBACK, "localhost")
TOKEN = "token"
MOST_QUERY = 256
WITH_TOKEN = ("/", "/ws")
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    (b"cache-control", b"no-cache"),
)


def kept_token() -> str:
    """Return the token of this user's pages, made at random when there is none; it lasts as long as a login.

    It is kept so that an open page finds its server again after a restart.

    Raises
    ------
    DoorError
        The folder is not one's own.
    OSError
        The file cannot be written.
    """
    path = private_folder(runtime_folder()) / "page.token"
    try:
        mode = path.lstat().st_mode
        text = path.read_text(encoding="ascii").strip() if stat.S_ISREG(mode) else ""
        if len(text) >= 32 and not mode & 0o077:
            return text
    except (OSError, UnicodeError):
        # none yet, or not one of ours: another takes its place
        text = ""
    text = secrets.token_urlsafe(32)
    write_whole(path, text.encode() + b"\n", mode=0o600)
    return text


def opening_page(url: str) -> Path:
    """Write a file that leads a browser to the page, and return it: a token on a command line is for all to see."""
    path = private_folder(runtime_folder()) / "page.html"
    text = (
        f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url={url}">\n'
    )
    return write_whole(path, text.encode(), mode=0o600)


class Gate:
    """An application that lets in who may come in, and sends the rest away.

    Parameters
    ----------
    app : callable
        The application behind it.
    port : int
    token : str
    any_origin : bool
        A viewer of another site may come in, with the token.
    """

    def __init__(self, app: App, port: int, token: str, *, any_origin: bool = False) -> None:
        self._any_origin = any_origin
        self._app, self._token = app, token.encode()
        self._hosts = {f"{host}:{port}".encode() for host in HOSTS}
        self._origins = {b"http://" + host for host in self._hosts}
        sources = " ".join(f"ws://{host}:{port}" for host in HOSTS)
        policy = (
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
            f"connect-src 'self' {sources}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        self._headers = [*HEADERS, (b"content-security-policy", policy.encode())]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or one websocket."""
        why = self._refusal(scope)
        if scope["type"] == "websocket":
            if why:
                await receive()
                await send({"type": "websocket.close", "code": 1008, "reason": why})
                return
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *self._headers]
            await send(message)

        if not why:
            await self._app(scope, receive, with_headers)
            return
        body = f"rigloop monitor: {why}\n".encode()
        start = {
            "type": "http.response.start",
            "status": 403,
            "headers": [
                (b"content-type", b"text/plain; charset=utf-8"),
                (b"content-length", str(len(body)).encode()),
            ],
        }
        await with_headers(start)
        await send({"type": "http.response.body", "body": body})

    def _refusal(self, scope: Scope) -> str:
        """Return why a request is refused; empty: it is not."""
        hosts, origins = _all(scope, b"host"), _all(scope, b"origin")
        is_socket = scope["type"] == "websocket"
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return "wrong Host: the page is at 127.0.0.1 on its own port only"
        if self._any_origin:
            origins = []
        elif is_socket and not origins:
            return "no Origin: only the page itself speaks to the rig"
        if len(origins) > 1 or any(origin not in self._origins for origin in origins):
            return "wrong Origin: another site may not speak to the rig"
        if not is_socket and scope["method"] not in ("GET", "HEAD"):
            return "only GET: changes go through the page's own connection"
        if scope["path"] in WITH_TOKEN and not self._has_token(scope["query_string"]):
            return "the token is missing or wrong: open the address that `rigloop monitor` prints"
        return ""

    def _has_token(self, query: bytes) -> bool:
        if len(query) > MOST_QUERY:
            return False
        given = parse_qs(query.decode("latin-1")).get(TOKEN, [])
        return len(given) == 1 and secrets.compare_digest(
            given[0].encode("utf-8", "replace"), self._token
        )


def _all(scope: Scope, name: bytes) -> list[bytes]:
    headers: Iterable[tuple[bytes, bytes]] = scope["headers"]
    return [value.lower() for key, value in headers if key == name]

"""Hostile requests and messages to the page's server, through its own sockets.

    python tests/fuzz/fuzz_page.py --messages 100000 --seed 1

Half of them are messages on websockets that were let in, of a page and of a viewer such as Foxglove: random text, good
messages, the same with mutations, and binary ones. The others are requests of strangers: random bytes, wrong hosts,
origins, tokens and paths. Behind the server is a service with a rig; no message may change its state, for the page has
no control, and `take` is left out. The server has to answer a good page and a good viewer after each batch. One JSON
line says what became of all of them.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import os
import random
import resource
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

from websockets.exceptions import ConnectionClosed, InvalidMessage, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from io_bridge.doorway.door import Door
from io_bridge.doorway.local_socket import local_endpoint
from rigloop.compose.wiring import load
from rigloop.monitor.app import listen, serve_pages
from rigloop.monitor.foxglove.door import NAMES, FoxgloveDoor, secret_of
from rigloop.monitor.messages import MOST_BYTES, read_message
from rigloop.monitor.opening import target_of
from rigloop.monitor.session import Session
from rigloop.service.journal import ServiceLog
from rigloop.service.process import Service, ServiceOptions
from rigloop.service.sessions import RunChoices

BATCH = 50
PROGRESS = 10_000
ANSWER_S = 30.0
TOKEN = "fuzz" * 11
GOOD: tuple[dict[str, Any], ...] = (
    {"do": "follow", "id": 1, "signals": ["wheel/angle_rad"], "span_s": 10, "pixels": 800},
    {"do": "range", "id": 1, "signals": ["wheel/angle_rad"], "from_s": 0, "to_s": 1, "pixels": 80},
    {"do": "give"}, {"do": "start", "seconds": 1.0}, {"do": "arm"}, {"do": "stop"}, {"do": "reset", "drives": True},
    {"do": "write", "values": {"gain": 1.0}, "begin": [], "end": []}, {"do": "play", "speed": 1, "at_s": 0},
    {"do": "keep", "layout": {"strips": [["wheel/angle_rad"]], "theme": "dark", "scales": {"a/b": [0, 1]}}},
    {"do": "capture", "signals": ["wheel/angle_rad"], "trigger": "wheel/angle_rad > 0.1 rising", "mode": "auto"},
    {"do": "off"}, {"do": "look", "from_s": -0.1, "to_s": 0.1, "pixels": 400, "delay": ["a/b", "a/c"]},
    {"do": "save", "name": "x"}, {"do": "load", "name": "x"}, {"do": "compare", "name": "x"},
    {"do": "export", "to": "csv"},
)  # fmt: skip
VIEWED: tuple[dict[str, Any], ...] = (
    {"op": "subscribe", "subscriptions": [{"id": 1, "channelId": 1}, {"id": 2, "channelId": 9}]},
    {"op": "unsubscribe", "subscriptionIds": [1]}, {"op": "getParameters", "parameterNames": []},
    {"op": "advertise", "channels": [{"id": 1, "topic": "/x", "encoding": "json", "schemaName": ""}]},
    {"op": "setParameters", "parameters": [{"name": "gain", "value": 1}]}, {"op": "fetchAsset", "uri": "file:///x"},
)  # fmt: skip
ODD: tuple[Any, ...] = (
    None, True, -1, 2**63, 1e308, -0.5, "", "a" * 300, "\0", "<img src=x onerror=alert(1)>", "../../x", "\u202e",
    [], {}, [[]], ["x"] * 100, [None], {"a": {}}, {"<b>": 1.0},
)  # fmt: skip
PATHS = (
    "/",
    "/ws",
    "/static/",
    "/static/page.css",
    "/static/../gate.py",
    "/static/%2e%2e/gate.py",
    "/x",
    "//",
    "*",
    "",
)


def message(rng: random.Random, good: tuple[dict[str, Any], ...] = GOOD) -> str | bytes:
    """Return a message of a page, or of a viewer, that was let in."""
    kind = rng.randrange(8)
    if kind == 0:
        return rng.randbytes(rng.choice((0, 1, 10, 300)))
    if kind == 1:
        return "".join(chr(rng.randrange(1, 0xD7FF)) for _ in range(rng.choice((0, 3, 50))))
    if kind == 2:
        return rng.choice(("[", '{"a":', '"\\u')) * rng.randrange(1, 3000)
    given = dict(rng.choice(good))
    if kind in (3, 4):
        given[rng.choice([*given, "token", "x"])] = rng.choice(ODD)
    if kind == 5:
        given.pop(rng.choice(list(given)))
    text = json.dumps(given)
    if kind == 6:
        place = rng.randrange(len(text))
        text = text[:place] + rng.choice('{}[]",:0\\x') + text[place + 1 :]
    return text


def takes_control(text: str | bytes) -> bool:
    """Decide if a message would take control."""
    try:
        return isinstance(text, str) and type(read_message(text)).__name__ == "Take"
    except ValueError:
        return False


def request(rng: random.Random, port: int) -> bytes:
    """Return the bytes of a stranger's request."""
    kind = rng.randrange(4)
    if kind == 0:
        return rng.randbytes(rng.choice((1, 10, 200)))
    host = rng.choice((f"127.0.0.1:{port}", "evil.example", "", "a" * 500, f"127.0.0.1:{port}\0"))
    origin = rng.choice(("", "http://evil.example", "null", f"http://127.0.0.1:{port}", "\xff"))
    # a stranger has no token
    query = rng.choice(
        ("", "?token=", f"?token={TOKEN}x", "?" + quote(rng.randbytes(9)), "?a" * 90)
    )
    method = rng.choice(("GET", "POST", "HEAD", "PUT", "OPTIONS", "CONNECT", "get", "X" * 40))
    lines = [f"{method} {rng.choice(PATHS)}{query} HTTP/{rng.choice(('1.1', '1.0', '9', ''))}"]
    lines += [f"Host: {host}"] + ([f"Origin: {origin}"] if origin else [])
    if rng.random() < 0.4:
        lines += ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"]
        lines += [f"Sec-WebSocket-Key: {rng.choice(('dGhlIHNhbXBsZSBub25jZQ==', 'x', ''))}"]
    if rng.random() < 0.3:
        lines += [
            rng.choice(
                (
                    "Content-Length: -1",
                    "Content-Length: 99",
                    "Transfer-Encoding: chunked",
                    "x" * 9000,
                    ":",
                )
            )
        ]
    raw = "\r\n".join(lines).encode("latin-1", "replace") + b"\r\n\r\n"
    if kind == 1:
        place = rng.randrange(len(raw))
        raw = raw[:place] + rng.randbytes(2) + raw[place:]
    return raw


class Served:
    """A service with one rig, and the server of a page in front of it, each in a thread."""

    def __init__(self, folder: Path) -> None:
        for kind in ("RUNTIME_DIR", "STATE_HOME", "CONFIG_HOME"):
            (folder / kind).mkdir(mode=0o700)
            os.environ[f"XDG_{kind}"] = str(folder / kind)
        self._stack, self._pages = contextlib.ExitStack(), contextlib.ExitStack()
        rig = load("steering_wheel")
        endpoint = local_endpoint("fuzz")
        door = self._stack.enter_context(Door(1 << 20))
        door.open_local(endpoint)
        log = ServiceLog(folder, "log", 1 << 20)
        options = ServiceOptions(
            "fuzz", endpoint, RunChoices(folder / "runs"), requests_a_second=1e9
        )
        self.service = Service([rig], options, door, log)
        self._interrupted: list[int] = []
        self.is_over = False
        listening, other = listen(0), listen(0)
        self.port, self.other_port = (one.getsockname()[1] for one in (listening, other))
        target = target_of("fuzz")
        viewers = FoxgloveDoor(target.open).gate(self.other_port, TOKEN)
        self._threads = [
            threading.Thread(target=self._serve),
            threading.Thread(
                target=serve_pages,
                args=(
                    lambda: Session(target.open, target.layout), listening, TOKEN,
                    self._interrupted, [(viewers, other)],
                ),
            ),
        ]  # fmt: skip
        for thread in self._threads:
            thread.start()

    def page(self) -> ClientConnection:
        """Return the websocket of a good page."""
        here = f"127.0.0.1:{self.port}"
        made = connect(
            f"ws://{here}/ws?token={TOKEN}", origin=f"http://{here}", open_timeout=ANSWER_S,
            max_size=None, ping_interval=None,
        )  # fmt: skip
        return self._pages.enter_context(made)

    def viewer(self) -> ClientConnection:
        """Return the websocket of a good viewer."""
        made = connect(
            f"ws://127.0.0.1:{self.other_port}/?token={secret_of(TOKEN)}", open_timeout=ANSWER_S,
            max_size=None, ping_interval=None, subprotocols=[NAMES[0]],
        )  # fmt: skip
        return self._pages.enter_context(made)

    def close(self) -> None:
        """End both."""
        self._pages.close()
        self._interrupted.append(2)
        self._threads[1].join(ANSWER_S)
        self.is_over = True
        self._threads[0].join(ANSWER_S)
        self.service.close()
        self._stack.close()

    def _serve(self) -> None:
        while not self.is_over:
            self.service.step()


def answers(page: ClientConnection, number: int) -> None:
    """Wait until the page has the refusal of a range that nobody else asks for."""
    page.send(json.dumps({"do": "play", "speed": 1.0, "at_s": float(number)}))
    until = time.monotonic() + ANSWER_S
    while time.monotonic() < until:
        got = page.recv(timeout=ANSWER_S)
        if isinstance(got, str) and "only of a run that is over" in got:
            return
    raise TimeoutError("the page's server does not answer")


def viewer_answers(viewer: ClientConnection, number: int) -> None:
    """Wait until the viewer has the refusal of an operation that nobody else asks for."""
    viewer.send(json.dumps({"op": f"n{number}"}))
    until = time.monotonic() + ANSWER_S
    while time.monotonic() < until:
        got = viewer.recv(timeout=ANSWER_S)
        if isinstance(got, str) and f"n{number}: this server only shows" in got:
            return
    raise TimeoutError("the door of viewers does not answer")


def strange(rng: random.Random, port: int) -> str:
    """Send one request of a stranger; return what became of it."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 5) as made:
        made.sendall(request(rng, port))
        made.shutdown(socket.SHUT_WR)
        made.settimeout(5)
        head = made.recv(64)
        return head.split(b" ")[1].decode("ascii", "replace") if b" " in head else "closed"
    return "closed"


def fuzz(n: int, seed: int, folder: Path) -> dict[str, Any]:
    """Send all of them; return what became of them."""
    rng = random.Random(seed)
    served = Served(folder)
    seen: collections.Counter[str] = collections.Counter()
    began = time.monotonic()
    try:
        page, viewer = served.page(), served.viewer()
        session = next(iter(served.service.sessions.values()))
        for k in range(n):
            if k % 2:
                found = strange(rng, rng.choice((served.port, served.other_port)))
                assert found != "101", "a stranger was let in"
                seen[f"http {found}"] += 1
            elif k % 4:
                try:
                    viewer.send(message(rng, VIEWED))
                    seen["viewed"] += 1
                except ConnectionClosed:
                    viewer = served.viewer()
                    seen["hung up"] += 1
            else:
                text = message(rng)
                if takes_control(text):
                    continue
                try:
                    page.send(text)
                    seen["sent"] += 1
                except ConnectionClosed:
                    # too many at once, or too long: the page may come again
                    page = served.page()
                    seen["hung up"] += 1
            if k % BATCH == BATCH - 1:
                try:
                    viewer_answers(viewer, k)
                except ConnectionClosed:
                    viewer = served.viewer()
                    seen["hung up"] += 1
                    viewer_answers(viewer, k)
                try:
                    answers(page, k)
                except ConnectionClosed:
                    page = served.page()
                    seen["hung up"] += 1
                    answers(page, k)
            if k % PROGRESS == PROGRESS - 1:
                sys.stderr.write(f"{time.monotonic() - began:6.0f} s  {k + 1} of {n}\n")
            assert session.n_runs == 0, "a run was started"
            assert not session.control.author, "control was taken"
        with contextlib.suppress(InvalidStatus, InvalidMessage, ConnectionClosed):
            page.send("x" * (MOST_BYTES + 1))
        answers(served.page(), n)
    finally:
        served.close()
    return {
        "messages": n, "seed": seed, "seconds": round(time.monotonic() - began, 1),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, "seen": dict(sorted(seen.items())),
    }  # fmt: skip


def main() -> None:
    """Read the arguments, and print one JSON line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(fuzz(given.messages, given.seed, Path(folder))), flush=True)


if __name__ == "__main__":
    main()

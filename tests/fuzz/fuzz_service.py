"""Hostile messages to a service, through its own sockets.

    python tests/fuzz/fuzz_service.py --messages 100000 --seed 1 [--armed]

Messages are random bytes, random MessagePack, good requests, the same with mutations (keys, values, types, bytes,
lengths), and several frames. Another client is in control of the rig, so no message may change its state; take-overs
that are good requests are left out. The service has to answer a good client after each batch, in time. With `--armed`
the rig runs meanwhile, and its values that need control must stay as they are. One JSON line says what became of
the messages.
"""

from __future__ import annotations

import argparse
import collections
import json
import math
import os
import random
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import zmq

from io_bridge.doorway.door import Door
from io_bridge.doorway.local_socket import local_endpoint
from rigloop.compose.wiring import load
from rigloop.protocol import requests as asked
from rigloop.protocol.answers import Phase, Refused
from rigloop.protocol.codec import commands, encoded, read_request
from rigloop.protocol.limits import MOST_BYTES, MOST_WIRE_BYTES
from rigloop.service.journal import ServiceLog
from rigloop.service.process import Service, ServiceOptions
from rigloop.service.sessions import RunChoices

BATCH = 50
RUN_S = 120.0  # for a run to begin, or to end
ANSWER_S = 20.0  # on a machine that does something else, too
SAMPLES: dict[str, Any] = {
    "name": "fuzz",
    "paths": ["hands/y", "preloaded/y"],
    "subscription": 1,
    "faults": ["sensor-stuck@2"],
    "values": {"assistance": 0.5},
    "from_s": 0.0,
    "to_s": 1.0,
}
ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63), 2**64 - 1, 0.5, -0.0, 1e308, 5e-324, math.nan, math.inf,
    -math.inf, "", "a" * 70, "a" * 5000, "\0", "\x1b[2J", "\u202e", "é", "../../x", "[red]x", "live_bench", b"",
    b"\xff" * 40, [], {}, [[]], [None] * 50, {"a": {}}, {"": 1}, [1.0] * 1001, ["x"] * 1001,
)  # fmt: skip


def good(rng: random.Random) -> dict[str, Any]:
    """Return a good request without the token, as a map."""
    name, kind = rng.choice(list(commands().items()))
    keys = {f.name: SAMPLES[f.name] for f in msgspec.structs.fields(kind) if f.name in SAMPLES}
    return {"command": name, "protocol": 1, "id": rng.randrange(1000)} | keys


def anything(rng: random.Random, depth: int = 0) -> Any:
    """Return something that MessagePack has."""
    if depth < 4 and rng.random() < 0.3:
        n = rng.randrange(5)
        if rng.random() < 0.5:
            return [anything(rng, depth + 1) for _ in range(n)]
        return {
            rng.choice(("a", "", "rig", "id", "command")): anything(rng, depth + 1)
            for _ in range(n)
        }
    return rng.choice(ODD)


def hostile(rng: random.Random) -> list[bytes]:
    """Return the frames of one message."""
    kind = rng.randrange(11)
    if kind == 0:
        return [rng.randbytes(rng.choice((0, 1, 2, 10, 100, 2000)))]
    if kind == 1:
        return [msgspec.msgpack.encode(anything(rng))]
    if kind == 2 and rng.random() < 0.02:
        return [bytes(rng.choice((MOST_BYTES, MOST_BYTES + 1, MOST_WIRE_BYTES + 1)))]
    if kind == 2:
        return [
            rng.choice((b"\x91", b"\x81", b"\xdc\xff\xff", b"\xdf\xff\xff\xff\xff"))
            * rng.randrange(1, 3000)
        ]
    if kind == 3:
        return [b"x"] * rng.choice((0, 2, 3, 40))
    request = good(rng)
    if kind in (4, 5):
        request[rng.choice([*request, "token", "rig", "seconds", "over", "at", "most", "x"])] = (
            anything(rng)
        )
    if kind == 6:
        request.pop(rng.choice(list(request)))
    if kind > 8 and rng.random() < 0.5:
        request["token"] = "guessed"
    raw = bytearray(msgspec.msgpack.encode(request))
    if kind == 7:
        for _ in range(rng.randrange(1, 4)):
            raw[rng.randrange(len(raw))] = rng.randrange(256)
    if kind == 8:
        where = rng.randrange(len(raw))
        raw = raw[:where] if rng.random() < 0.5 else raw[:where] + rng.randbytes(3) + raw[where:]
    return [bytes(raw)]


def may_take_over(frames: list[bytes]) -> bool:
    """Decide if a message is a good request that control passes by."""
    try:
        request = read_request(frames[0]) if len(frames) == 1 else None
    except Refused:
        return False
    return isinstance(request, asked.Take) and request.over


def state_of(service: Service) -> dict[str, Any]:
    """Return all that a message without a token must not change."""
    return {
        name: (
            msgspec.structs.replace(s.status(), t_s=0.0),
            [(row.name, row.now) for row in s.live() if row.who == "control"],
            s.control.author,
            s.control._token,
            s._resets_drives,
            s._asked_to_arm,
            s.goes_on,
        )
        for name, s in service.sessions.items()
    }


class Peer:
    """A client of the service in this very thread."""

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], endpoint: str) -> None:
        self.socket = context.socket(zmq.DEALER)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.connect(endpoint)

    def ask(self, service: Service, request: asked.Request) -> dict[str, Any]:
        """Send a good request and make the service step until it answers."""
        self.socket.send(encoded(request))
        until = time.monotonic() + ANSWER_S
        while time.monotonic() < until:
            service.step()
            while self.socket.poll(0):
                raw = self.socket.recv()
                if raw and (found := msgspec.msgpack.decode(raw)).get("id") == request.id:
                    return dict(found)
        raise TimeoutError(f"no answer within {ANSWER_S:g} s")


def step_until(service: Service, holds: Callable[[], bool]) -> None:
    """Make a service step until something holds."""
    until = time.monotonic() + RUN_S
    while not holds():
        if time.monotonic() > until:
            raise TimeoutError(f"{service.status()} after {RUN_S:g} s")
        service.step()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--armed", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        done = attack(Path(folder), options.messages, options.seed, armed=options.armed)
    print(json.dumps(done))


def attack(folder: Path, messages: int, seed: int, *, armed: bool = False) -> dict[str, Any]:
    """Send all messages; return what became of them."""
    os.environ["XDG_RUNTIME_DIR"] = str(folder)
    rng, became = random.Random(seed), collections.Counter[str]()
    choices = RunChoices(folder / "runs", "simulated")
    options = ServiceOptions("fuzz", local_endpoint("fuzz"), choices, requests_a_second=1e9)
    context = zmq.Context[zmq.Socket[bytes]]()
    longest_s = 0.0
    with Door(MOST_WIRE_BYTES) as door:
        door.open_local(options.endpoint)
        log = ServiceLog(folder, "log", 1 << 20)
        service = Service([load("live_bench")], options, door, log)
        owner = Peer(context, options.endpoint)
        taken = owner.ask(service, asked.Take(protocol=1, id=1))
        assert taken["kind"] == "answer"
        (session,) = service.sessions.values()
        if armed:
            token = str(taken["answer"]["token"])
            owner.ask(service, asked.Arm(protocol=1, id=1, token=token))
            step_until(service, lambda: session.phase == Phase.ARMED)
        before, began_kb = state_of(service), _memory_kb()
        for first in range(0, messages, BATCH):
            peer = Peer(context, options.endpoint)
            for _ in range(min(BATCH, messages - first)):
                frames = hostile(rng)
                if may_take_over(frames):
                    became["left out"] += 1
                elif frames:
                    peer.socket.send_multipart(frames)
            began = time.monotonic()
            owner.ask(service, asked.Status(protocol=1, id=first + 2))
            # what is still on its way comes after a good client's request at the latest
            for number in range(3):
                owner.ask(service, asked.Status(protocol=1, id=first + 3 + number))
            longest_s = max(longest_s, time.monotonic() - began)
            while peer.socket.poll(0):
                raw = peer.socket.recv()
                if raw:
                    found = msgspec.msgpack.decode(raw)
                    became[str(found.get("why", found["kind"]))] += 1
            peer.socket.close()
            if state_of(service) != before:
                raise AssertionError(f"seed {seed}, batch from {first}: the state has changed")
        grown_kb = _memory_kb() - began_kb
        if armed:
            owner.ask(service, asked.Stop(protocol=1, id=1, token=token))
            step_until(service, lambda: not session.goes_on)
            assert session.last is not None
            assert session.last.outcome is not None
            became["verdict good"] = int(session.last.outcome.good)
        service.close()
        log.close()
    context.destroy(linger=0)
    return {
        "messages": messages,
        "became": dict(became),
        "state changed": False,
        "longest_batch_s": round(longest_s, 3),
        "memory_grown_kb": grown_kb,
    }


def _memory_kb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    main()

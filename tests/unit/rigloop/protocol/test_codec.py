"""Requests as bytes: what is none of this version is refused with one sentence that says what is wrong."""

import msgspec
import pytest

from rigloop.protocol import requests as asked
from rigloop.protocol.answers import Refused, Why
from rigloop.protocol.codec import commands, encoded, read_request, request_id
from rigloop.protocol.limits import MOST_BYTES, MOST_SIGNALS

GOOD = {"protocol": 1, "id": 7, "command": "arm", "token": "t"}


def pack(**changes):
    return msgspec.msgpack.encode({k: v for k, v in (GOOD | changes).items() if v is not None})


@pytest.mark.parametrize("kind", commands().values())
def test_a_request_is_the_same_after_its_bytes(kind):
    samples = {
        "name": "me",
        "paths": ["a/b"],
        "subscription": 1,
        "faults": ["sensor-stuck@2"],
        "values": {"gain": 1.0},
        "from_s": 0.0,
        "to_s": 1.0,
    }
    needed = {f.name: samples[f.name] for f in msgspec.structs.fields(kind) if f.name in samples}
    made = kind(protocol=1, id=3, **needed)
    assert read_request(encoded(made)) == made


@pytest.mark.parametrize(
    ("raw", "why", "words"),
    [
        (b"", Why.MESSAGE, "no message of this protocol"),
        (b"\xc1", Why.MESSAGE, "no message of this protocol"),
        (b"\x91" * 60_000, Why.MESSAGE, "no message of this protocol"),
        (b"\0" * (MOST_BYTES + 1), Why.SIZE, f"at most {MOST_BYTES}"),
        (pack(protocol=0), Why.PROTOCOL, "this service speaks 1"),
        (pack(protocol=2), Why.PROTOCOL, "protocol = 2"),
        (pack(protocol=None), Why.PROTOCOL, "this service speaks 1"),
        (pack(command="amr"), Why.MESSAGE, "did you mean 'arm'"),
        (pack(command="a\x1b[2J"), Why.MESSAGE, "␛"),
        (pack(token=3), Why.MESSAGE, "`$.token`"),
        (pack(tokn="t"), Why.MESSAGE, "`tokn`"),
        (pack(seconds=float("nan")), Why.MESSAGE, "`$.seconds`"),
        (pack(seconds=float("inf")), Why.MESSAGE, "`$.seconds`"),
        (pack(seconds=1e9), Why.MESSAGE, "<= 86400"),
        (pack(id=-1), Why.MESSAGE, "`$.id`"),
        (
            pack(command="read", token=None, paths=["a"] * (MOST_SIGNALS + 1)),
            Why.MESSAGE,
            f"<= {MOST_SIGNALS}",
        ),
        (pack(command="write", values={"a": "much"}), Why.MESSAGE, "`$.values"),
    ],
)
def test_what_is_no_request_is_refused(raw, why, words):
    with pytest.raises(Refused, match=r".") as caught:
        read_request(raw)
    assert caught.value.why == why
    assert words in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_refused_request_keeps_its_number():
    assert request_id(pack(protocol=9)) == 7
    assert request_id(pack(tokn="t")) == 7
    assert request_id(b"\xc1") == 0


def test_every_change_of_a_run_needs_control():
    free = {name for name, kind in commands().items() if not kind.controls}
    assert free == {
        "hello", "bye", "status", "signals", "describe", "read", "subscribe", "unsubscribe", "take", "capture",
        "verdict", "runs", "shutdown", "write", "live",
    }  # fmt: skip
    assert all(issubclass(kind, asked.OfRig) for kind in commands().values() if kind.controls)

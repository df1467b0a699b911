"""Bytes to messages and back: MessagePack; whatever is no request of this version is refused with one sentence."""

from __future__ import annotations

from typing import Any

import msgspec

from rig_configs.mistakes import near
from rig_configs.plain import line
from rigloop.protocol.answers import AnyMessage, Notice, RawAnswer, Refusal, Refused, Values, Why
from rigloop.protocol.limits import MOST_BYTES, PROTOCOL
from rigloop.protocol.requests import AnyRequest, Request


class _Head(msgspec.Struct):
    """The keys that every version has."""

    protocol: int = 0
    id: int = 0
    command: str = ""


_requests = msgspec.msgpack.Decoder(AnyRequest)
_heads = msgspec.msgpack.Decoder(_Head)
_messages = msgspec.msgpack.Decoder(RawAnswer | Refusal | Values | Notice)
_encoder = msgspec.msgpack.Encoder()


def commands() -> dict[str, type[Request]]:
    """Return the commands by name."""
    return {str(kind.__struct_config__.tag): kind for kind in AnyRequest.__args__}


def read_request(raw: bytes) -> AnyRequest:
    """Return the request of some bytes.

    Raises
    ------
    Refused
        It is none; the message says what is wrong. `request_id` finds its number, if it has one.
    """
    if len(raw) > MOST_BYTES:
        raise Refused(Why.SIZE, f"a request of {len(raw)} bytes: at most {MOST_BYTES}")
    head = _head(raw)
    if head.protocol != PROTOCOL:
        raise Refused(
            Why.PROTOCOL,
            f"protocol = {head.protocol}: this service speaks {PROTOCOL}; use the rigloop that it was started with",
        )
    if head.command not in commands():
        raise Refused(
            Why.MESSAGE,
            f"command = {line(head.command, 64)!r}: {near(line(head.command, 64), commands())}",
        )
    try:
        # every number has limits, which no NaN is within
        return _requests.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Refused(Why.MESSAGE, f"{head.command}: {line(str(error))}") from None


def request_id(raw: bytes) -> int:
    """Return the number of a request that was refused; 0 where it has none."""
    try:
        return _head(raw).id if len(raw) <= MOST_BYTES else 0
    except Refused:
        return 0


def _head(raw: bytes) -> _Head:
    try:
        return _heads.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Refused(
            Why.MESSAGE, f"no message of this protocol, a MessagePack map: {line(str(error))}"
        ) from None


def read_message(raw: bytes) -> RawAnswer | Refusal | Values | Notice:
    """Return the message of a service.

    Raises
    ------
    msgspec.MsgspecError
        It is none.
    """
    return _messages.decode(raw)


def encoded(message: Request | AnyMessage) -> bytes:
    """Return the bytes of a message."""
    return _encoder.encode(message)


def decoded(raw: msgspec.Raw, type: Any) -> Any:
    """Return the content of an answer."""
    return msgspec.msgpack.decode(raw, type=type)

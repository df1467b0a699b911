"""Objects of a slave: what the user writes, the transfer, and what it means."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from io_bridge.attendant.mailbox_service import ask
from io_bridge.attendant.scan import LimitsOf, Line, answered
from io_bridge.master.diagnosis import ERROR_CODE
from io_bridge.master.master import BringUpError
from io_bridge.slaves import words

SIZES = (1, 2, 4, 8)
OBJECT = re.compile(r"0[xX]([0-9a-fA-F]{1,4})(?::(0[xX][0-9a-fA-F]{1,2}|[0-9]{1,3}))?")


class Transferred(NamedTuple):
    """Data of an object, and what the slave said unasked meanwhile."""

    data: bytes
    said: tuple[str, ...] = ()


def parse_object(text: str) -> tuple[int, int]:
    """Return index and subindex; the subindex is 0 if not given.

    Raises
    ------
    ValueError
        It is no object; the message says how one is written.
    """
    found = OBJECT.fullmatch(text)
    subindex = int(found[2] or "0", 0) if found else 256
    if found is None or subindex > 255:
        raise ValueError(
            f"object {text!r}: write the index in hexadecimal and a subindex up to 255, as in 0x1018:1"
        )
    return int(found[1], 16), subindex


def parse_number(text: str) -> int:
    """Return a whole number, decimal or with 0x.

    Raises
    ------
    ValueError
        It is none.
    """
    try:
        return int(text, 0)
    except ValueError:
        raise ValueError(f"value {text!r}: write a whole number, as 500, -20 or 0x1F") from None


@dataclass(frozen=True)
class Wanted:
    """An object of a slave that is read, or written where a number is given, with its size if it is known."""

    slave: int
    index: int
    subindex: int
    number: int | None = None
    size: int | None = None


def transfer(
    interface: str,
    wanted: Wanted,
    second: str | None = None,
    limits_of: LimitsOf = None,
) -> Transferred:
    """Read or write; return the object's data and the messages of the slave meanwhile.

    Raises
    ------
    OSError
        The interface cannot be used.
    BringUpError
        The slave refused, in words; or it cannot be asked.
    """
    if interface == "simulated":
        return _through_loop(interface, wanted)
    slave, number = wanted.slave, wanted.number
    with Line(interface, second) as line:
        if line.mailbox is not None:
            return _through_loop(interface, wanted)
        line.limits_of = limits_of
        line.look()
        if slave >= line.n_slaves:
            raise BringUpError(f"no slave {slave}: {line.n_slaves} answer, from 0")
        station = line.stations()[slave]
        upload = line.uploader(slave, station)
        try:
            if number is None:
                data = upload(wanted.index, wanted.subindex)
            else:
                size = wanted.size or len(upload(wanted.index, wanted.subindex))
                data = encode(number, size)
                line.master.client(station).download(wanted.index, wanted.subindex, data)
            return Transferred(data, tuple(map(str, line.master.emergencies.of(station))))
        finally:
            line.leave(station, slave)


def _through_loop(interface: str, wanted: Wanted) -> Transferred:
    from io_bridge.attendant.mailbox_service import socket_path

    path = socket_path(interface)

    def answer(value: bytes | None) -> Transferred:
        found = ask(path, wanted.slave, wanted.index, wanted.subindex, value)
        return Transferred(answered(found), found.said)

    try:
        if wanted.number is None:
            return answer(None)
        return answer(encode(wanted.number, wanted.size or len(answer(None).data)))
    except FileNotFoundError:
        raise BringUpError("no loop runs on a simulated bus now") from None


def encode(number: int, size: int) -> bytes:
    """Return a number as `size` bytes, little-endian.

    Raises
    ------
    BringUpError
        It does not fit, or the object is larger than a number.
    """
    if size not in SIZES:
        raise BringUpError(
            f"an object of {size} bytes: only 1, 2, 4 or 8 can be written; see --bytes"
        )
    if not -(1 << 8 * size - 1) <= number < 1 << 8 * size:
        raise BringUpError(f"{number} does not fit the {size} bytes of the object")
    return (number % (1 << 8 * size)).to_bytes(size, "little")


def as_message(
    slave: int,
    index: int,
    subindex: int,
    data: bytes,
    *,
    written: bool,
    said: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Return an object with every reading of its bytes."""
    message: dict[str, Any] = {
        "slave": slave,
        "object": f"{index:#06x}:{subindex}",
        "written": written,
        "bytes": data.hex(" "),
    }
    if len(data) in (1, 2, 4, 8):
        message["unsigned"] = int.from_bytes(data, "little")
        message["signed"] = int.from_bytes(data, "little", signed=True)
    if len(data) > 1 and data.isascii() and data.rstrip(b"\0").decode("ascii").isprintable():
        message["text"] = data.rstrip(b"\0").decode("ascii")
    if index == ERROR_CODE and "unsigned" in message:
        message["meaning"] = words.drive_error(message["unsigned"] & 0xFFFF)
    if said:
        message["said"] = list(said)
    return message


def in_words(message: dict[str, Any]) -> str:
    """Return one line: object, number in its readings, text."""
    parts = [f"slave {message['slave']}  {message['object']}"]
    if "unsigned" in message:
        width = 2 + 2 * len(message["bytes"].split())
        parts.append(f"{message['unsigned']:#0{width}x}  {message['unsigned']}")
        if message["signed"] < 0:
            parts.append(f"({message['signed']})")
    elif "text" not in message:
        parts.append(message["bytes"] or "empty")
    if message.get("text"):
        parts.append(repr(message["text"]))
    if "meaning" in message:
        parts.append(message["meaning"].partition(" ")[2])
    if message["written"]:
        parts.append("written")
    return "  ".join(parts)

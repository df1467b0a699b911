"""Packed messages (CDR) of an MCAP channel, by the definition that the file brings (`ros2msg`).

Source: OMG DDS-XTypes 1.3, 7.4.1 (plain CDR); ROS 2 interface definition, docs.ros.org.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from io_bridge.logs.formats.table import MOST_COLUMNS, Array, LogError

HEAD = 4  # bytes before the first value: the order of bytes
LONGEST = 64  # elements of a list that become columns
MOST_DEPTH = 8
RULE = re.compile(r"^=+\s*$", re.MULTILINE)
FIELD = re.compile(r"([A-Za-z][\w/]*(?:<=\d+)?)(\[(?:<=)?\d*\])?\s+([A-Za-z]\w*)\s*(=?)")
SIGNAL = re.compile(r"(\S+)(?: \[([^\]]*)\])?\Z")  # `path [unit]`, as our own exports say it
NUMBERS = {
    "bool": "?", "byte": "B", "char": "B", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H",
    "int32": "i", "uint32": "I", "int64": "q", "uint64": "Q", "float32": "f", "float64": "d",
}  # fmt: skip
STRING = "string"


@dataclass(frozen=True)
class Leaf:
    """A value of a message, or a text or list whose length only the message knows.

    Attributes
    ----------
    name : str
        Path of its fields, or the path that a comment of ours states.
    code : str
        Of `struct`; "" for a text.
    unit : str
    count : int
        Elements of an array; 0: one value; -1: a list.
    parts : tuple of Leaf
        Of each element of a list of messages.
    """

    name: str
    code: str
    unit: str = ""
    count: int = 0
    parts: tuple[Leaf, ...] = ()


def leaves_of(definition: str) -> tuple[Leaf, ...]:
    """Return the values of a message in their order.

    Raises
    ------
    LogError
        The definition names a type that it does not bring, or is too large.
    """
    first, *others = RULE.split(definition)
    types: dict[str, list[tuple[str, str, str, str]]] = {}
    for text in others:
        title, _, fields = text.strip().partition("\n")
        name = title.removeprefix("MSG:").strip()
        types[name] = types[name.rpartition("/")[2]] = _fields(fields)
    found: list[Leaf] = []

    def walk(fields: list[tuple[str, str, str, str]], prefix: str, depth: int) -> list[Leaf]:
        leaves: list[Leaf] = []
        for kind, many, name, comment in fields:
            if depth > MOST_DEPTH or len(leaves) > 4 * MOST_COLUMNS:
                raise LogError("mcap: a message of more values than are read")
            path = f"{prefix}{name}"
            said = SIGNAL.match(comment)
            is_own = bool(said) and "/" in comment
            told, unit = (said[1], said[2] or "") if said and is_own else (path, "")
            base = kind.split("<=")[0]
            fixed = many[1:-1]
            count = 0 if not many else int(fixed) if fixed.isdigit() else -1
            if base in NUMBERS or base in (STRING, "wstring"):
                leaves.append(Leaf(told, NUMBERS.get(base, ""), unit, count))
                continue
            inner = types.get(base) or types.get(base.rpartition("/")[2]) or _TIMES.get(base)
            if inner is None:
                raise LogError(f"mcap: the definition of {base} is not in the file")
            if count == 0:
                leaves += walk(inner, f"{path}.", depth + 1)
            elif 0 < count <= LONGEST:
                for k in range(count):
                    leaves += walk(inner, f"{path}.{k}.", depth + 1)
            else:
                parts = tuple(walk(inner, "", depth + 1))
                leaves.append(Leaf(path, "", "", count, parts))
        return leaves

    found = walk(_fields(first), "", 0)
    return tuple(found)


def decoded_columns(
    leaves: Sequence[Leaf], messages: Sequence[bytes]
) -> tuple[dict[str, Array], int]:
    """Return a column for each number of the messages, and how many of them could not be read: NaN in all columns."""
    plain = _decoded_at_once(leaves, messages)
    if plain is not None:
        return plain, 0
    rows: list[dict[str, float]] = []
    damaged = 0
    for message in messages:
        row: dict[str, float] = {}
        try:
            _Cursor(message).take(leaves, "", row)
        except (struct.error, LogError):
            row, damaged = {}, damaged + 1
        rows.append(row)
    names = list(dict.fromkeys(name for row in rows for name in row))[:MOST_COLUMNS]
    return {n: np.array([row.get(n, np.nan) for row in rows]) for n in names}, damaged


class _Cursor:
    # a place in one message
    def __init__(self, message: bytes) -> None:
        if len(message) < HEAD or message[0] or message[1] not in (0, 1):
            raise LogError("not plain CDR")
        self.message, self.at = message, HEAD
        self.order = "<" if message[1] else ">"

    def take(self, leaves: Sequence[Leaf], prefix: str, row: dict[str, float]) -> None:
        for leaf in leaves:
            name = f"{prefix}{leaf.name}"
            if not leaf.count and not leaf.parts:
                self._one(leaf, name, row)
                continue
            count = leaf.count if leaf.count >= 0 else int(self._number("I"))
            if count > len(self.message):
                raise LogError("a list longer than its message")
            for k in range(count):
                shown = row if k < LONGEST else {}
                if leaf.parts:
                    self.take(leaf.parts, f"{name}.{k}.", shown)
                else:
                    self._one(leaf, f"{name}.{k}", shown)

    def _one(self, leaf: Leaf, name: str, row: dict[str, float]) -> None:
        if leaf.code:
            row[name] = float(self._number(leaf.code))
        else:
            length = int(self._number("I"))
            self.at += length
            if self.at > len(self.message):
                raise LogError("a text longer than its message")

    def _number(self, code: str) -> float:
        size = struct.calcsize(code)
        self.at += -(self.at - HEAD) % size
        (value,) = struct.unpack_from(self.order + code, self.message, self.at)
        self.at += size
        return float(value)


def _decoded_at_once(leaves: Sequence[Leaf], messages: Sequence[bytes]) -> dict[str, Array] | None:
    # messages of numbers alone all have the same layout
    if any(not leaf.code or leaf.count < 0 or leaf.parts for leaf in leaves):
        return None
    at, offsets, codes, names = 0, [], [], []
    for leaf in leaves:
        size = struct.calcsize(leaf.code)
        at += -at % size
        for k in range(max(1, leaf.count)):
            offsets.append(HEAD + at)
            codes.append(leaf.code)
            names.append(leaf.name if not leaf.count else f"{leaf.name}.{k}")
            at += size
    length = len(messages[0])
    if (
        length < HEAD + at
        or any(len(m) != length for m in messages)
        or len(set(names)) < len(names)
    ):
        return None
    heads = {bytes(message[:2]) for message in messages}
    if len(heads) != 1 or not heads <= {b"\x00\x00", b"\x00\x01"}:
        return None
    order = "<" if heads == {b"\x00\x01"} else ">"
    row = np.dtype(
        {
            "names": [f"f{k}" for k in range(len(codes))],
            "formats": [order + code for code in codes],
            "offsets": offsets,
            "itemsize": length,
        }
    )
    table = np.frombuffer(b"".join(messages), row)
    return {n: table[f"f{k}"].astype(float) for k, n in enumerate(names[:MOST_COLUMNS])}


def _fields(text: str) -> list[tuple[str, str, str, str]]:
    # type, brackets of an array, name and comment of each; constants are none
    fields = []
    for line in text.splitlines():
        match = FIELD.match(line.strip())
        if match and not match[4]:
            comment = line.partition("#")[2].strip()
            fields.append((match[1], match[2] or "", match[3], comment))
    return fields


_STAMP = [("int32", "", "sec", ""), ("uint32", "", "nanosec", "")]
_TIMES = {"builtin_interfaces/Time": _STAMP, "builtin_interfaces/Duration": _STAMP,
          "time": _STAMP, "duration": _STAMP}  # fmt: skip

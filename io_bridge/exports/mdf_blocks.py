"""Blocks of an MDF 4.1 file: its head, its groups of channels, and the places where they name each other.

A block is a head of 24 bytes (name, length, number of links), links to other blocks as places in the file, and data.
Source: ASAM MDF 4.1, "Block structure".
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import BinaryIO
from xml.sax.saxutils import escape

VERSION, PROGRAM = 411, "rigloop"
HEAD = struct.Struct("<4sIQQ")
LINK = struct.Struct("<Q")
ALIGNED = 8  # bytes: each block begins at a multiple
FIRST = 64  # behind the identification
OFFSETS_VALID = 2  # the offset from UTC is known: it is zero
VALUE, MASTER = 0, 2  # types of a channel
BY_TIME = 1  # what a master counts
REAL, TEXT = 4, 7  # little-endian floating point; UTF-8
# places of links in a block
HD_GROUP, HD_HISTORY = 0, 1
DG_NEXT, DG_CHANNELS, DG_DATA = 0, 1, 2
CN_NEXT = 0


@dataclass(frozen=True)
class Channel:
    """A column of a channel group: its name and unit, what it holds, and where it stands in a row."""

    name: str
    unit: str
    data: int
    first_byte: int
    n_bytes: int
    is_master: bool = False


class Blocks:
    """The blocks of a file, written one after the other; links to later ones are put in when these are there.

    Parameters
    ----------
    file : binary file
        Empty.
    start_ns : int
        Start of the recording, ns since 1970 in UTC.
    description : str
        Words about the recording.
    """

    def __init__(self, file: BinaryIO, start_ns: int, description: str) -> None:
        self._file = file
        self._texts: dict[tuple[bytes, str], int] = {}
        identification = struct.pack(
            "<8s8s8s4xH34x", b"MDF     ", f"{VERSION / 100:.2f}".ljust(8).encode(), PROGRAM.ljust(8).encode(), VERSION
        )  # fmt: skip
        file.write(identification)
        # start, offsets from UTC in minutes, flags, class of the clock; then an angle and a distance that nobody knows
        self._head = self._add(
            b"HD", [0] * 6, struct.pack("<QhhBBBxdd", start_ns, 0, 0, OFFSETS_VALID, 0, 0, 0.0, 0.0)
        )
        self._last_group = 0
        comment = f"<HDcomment><TX>{escape(description)}</TX></HDcomment>"
        self._link(self._head, 5, self._text(b"MD", comment))
        made_by = (
            f"<FHcomment><TX>exported</TX><tool_id>{PROGRAM}</tool_id>"
            f"<tool_vendor>{PROGRAM}</tool_vendor><tool_version>1</tool_version></FHcomment>"
        )
        history = self._add(
            b"FH", [0, self._text(b"MD", made_by)], struct.pack("<QhhB3x", start_ns, 0, 0, OFFSETS_VALID)
        )  # fmt: skip
        self._link(self._head, HD_HISTORY, history)

    def begin_group(
        self, name: str, channels: Sequence[Channel], row_bytes: int, n_rows: int
    ) -> None:
        """Write what a group of channels is; its rows come next, `n_rows` of `row_bytes` each."""
        firsts = [self._channel(one) for one in channels]
        for one, other in pairwise(firsts):
            self._link(one, CN_NEXT, other)
        # no record number: the rows of a group stand alone
        group = self._add(
            b"CG",
            [0, firsts[0], self._text(b"TX", name), 0, 0, 0],
            struct.pack("<QQHH4xII", 0, n_rows, 0, 0, row_bytes, 0),
        )
        data = self._add(b"DG", [0, group, 0, 0], struct.pack("<B7x", 0))
        if self._last_group:
            self._link(self._last_group, DG_NEXT, data)
        else:
            self._link(self._head, HD_GROUP, data)
        self._last_group = data
        self._align()
        self._link(data, DG_DATA, self._file.tell())
        self._file.write(HEAD.pack(b"##DT", 0, HEAD.size + row_bytes * n_rows, 0))

    def _channel(self, one: Channel) -> int:
        unit = self._text(b"TX", one.unit) if one.unit else 0
        links = [0, 0, self._text(b"TX", one.name), 0, 0, 0, unit, 0]
        kind, counts = (MASTER, BY_TIME) if one.is_master else (VALUE, 0)
        # then flags, place of an invalid bit, digits to show, attachments, and limits that nobody set
        data = struct.pack(
            "<BBBBIIIIBxH6d", kind, counts, one.data, 0, one.first_byte, 8 * one.n_bytes, 0, 0, 0, 0, *[0.0] * 6
        )  # fmt: skip
        return self._add(b"CN", links, data)

    def _text(self, kind: bytes, text: str) -> int:
        # equal texts are one block
        if (kind, text) not in self._texts:
            data = text.encode() + b"\0"
            data = data.ljust(-(-len(data) // ALIGNED) * ALIGNED, b"\0")
            self._texts[kind, text] = self._add(kind, [], data)
        return self._texts[kind, text]

    def _add(self, kind: bytes, links: Sequence[int], data: bytes) -> int:
        self._align()
        place = self._file.tell()
        links_bytes = b"".join(map(LINK.pack, links))
        length = HEAD.size + len(links_bytes) + len(data)
        self._file.write(HEAD.pack(b"##" + kind, 0, length, len(links)) + links_bytes + data)
        return place

    def _align(self) -> None:
        self._file.seek(0, os.SEEK_END)
        self._file.write(bytes(-self._file.tell() % ALIGNED))

    def _link(self, block: int, number: int, to: int) -> None:
        self._file.seek(block + HEAD.size + number * LINK.size)
        self._file.write(LINK.pack(to))
        self._file.seek(0, os.SEEK_END)

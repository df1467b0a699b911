"""Sources of the tables of a long log, one after the other, each with the place that its reader has reached.

A place is plain data: `sources` made with it of the same file go on with the next table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from io_bridge.logs.formats.opened import Unpacking, head_of, packing_of
from io_bridge.logs.formats.own_record import record_parts
from io_bridge.logs.formats.read import format_of, read_tables
from io_bridge.logs.formats.table import MOST_STREAMED, Spoilt, Table
from io_bridge.logs.formats.text import TextParts

LONG_BYTES = 64 << 20
USUALLY_PACKED = 8  # times smaller
PARTED = ("text", "own record")

Place = dict[str, Any]


class Source(Protocol):
    """Tables of one log; iterate once."""

    @property
    def is_whole(self) -> bool:
        """True: all tables of the file, which is read as a whole."""

    def __iter__(self) -> Iterator[Table]: ...
    @property
    def place(self) -> Place | None:
        """Behind the newest table; None: this format has none, it is read as a whole."""


class _OwnRecord:
    is_whole = False

    def __init__(self, path: Path, size: int, place: Place | None) -> None:
        self._path, self._size = path, size
        self._row = place["row"] if place else 0

    def __iter__(self) -> Iterator[Table]:
        for table in record_parts(self._path, self._size, self._row):
            self._row = table.n_rows
            yield table

    @property
    def place(self) -> Place:
        return {"row": self._row}


class _Whole:
    is_whole = True

    def __init__(self, path: Path, delimiter: str | None) -> None:
        self._path, self._delimiter = path, delimiter

    def __iter__(self) -> Iterator[Table]:
        yield from read_tables(self._path, self._delimiter)

    @property
    def place(self) -> None:
        return None


def source_of(path: Path, delimiter: str | None, size: int, place: Place | None = None) -> Source:
    """Return the tables of a log: of about `size` rows where its format is read part by part, else all at once.

    Raises
    ------
    LogError
        The file cannot be read.
    """
    head = head_of(path, most=MOST_STREAMED)
    if packing_of(head):
        head = next(iter(Unpacking(path, MOST_STREAMED)))[:4096]
    kind = format_of(head)
    if kind == "own record":
        return _OwnRecord(path, size, place)
    if kind == "text":
        return TextParts(path, delimiter, size, place)
    return _Whole(path, delimiter)


def is_long(path: Path) -> bool:
    """Tell a log that is read part by part where its format can be, because of its size.

    Raises
    ------
    LogError
        The file cannot be read.
    """
    head = head_of(path, most=MOST_STREAMED)
    size = path.stat().st_size
    if packing_of(head):
        head = next(iter(Unpacking(path, MOST_STREAMED)))[:4096]
        size *= USUALLY_PACKED
    return size > LONG_BYTES and format_of(head) in PARTED


def table_as_kept(table: Table) -> Place:
    """Return a table as plain data and arrays."""
    shown = ("name", "numbers", "words", "row", "n_rows", "line", "units", "has_names")
    kept: Place = {name: getattr(table, name) for name in shown}
    return kept | {"spoilt": [asdict(one) for one in table.spoilt]}


def table_of(kept: Mapping[str, Any]) -> Table:
    """Return the table that `table_as_kept` was given."""
    spoilt = tuple(Spoilt(**one) for one in kept["spoilt"])
    return Table(**(dict(kept) | {"spoilt": spoilt}))

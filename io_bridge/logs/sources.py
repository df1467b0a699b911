"""Sources of the tables of a long log, one after the other, each with the place that its reader has reached.

A place is plain data: `sources` made with it of the same file go on with the next table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Protocol

from io_bridge.logs.formats.fence import fenced_parts
from io_bridge.logs.formats.opened import Unpacking, head_of, packing_of
from io_bridge.logs.formats.own_record import record_parts
from io_bridge.logs.formats.read import format_of, read_tables
from io_bridge.logs.formats.table import MOST_STREAMED, LogError, Spoilt, Table
from io_bridge.logs.formats.text import TextParts
from io_bridge.logs.formats.window import Window

LONG_BYTES = 64 << 20
USUALLY_PACKED = 8  # times smaller
FENCED = ("parquet", "hdf5", "mdf")
SLICED = ("mat",)
PARTED = ("text", "own record", *FENCED, *SLICED)

Place = dict[str, Any]


class Source(Protocol):
    """Tables of one log; iterate once."""

    @property
    def is_whole(self) -> bool:
        """True: all tables of the file, which is read as a whole."""

    @property
    def beside(self) -> list[Table]:
        """The other tables of the file, by their first rows; known with the first one."""

    def keep(self, table: Table, columns: Sequence[str]) -> None:
        """Say which of the first tables goes on, and which of its columns are read."""

    def __iter__(self) -> Iterator[Table]: ...
    @property
    def place(self) -> Place | None:
        """Behind the newest table; None: this format has none, it is read as a whole."""


class _OneTable:
    is_whole = False

    @property
    def beside(self) -> list[Table]:
        return []

    def keep(self, table: Table, columns: Sequence[str]) -> None:
        """Nothing is to be chosen."""


class _Texts(_OneTable):
    def __init__(self, parts: TextParts) -> None:
        self._parts = parts

    def __iter__(self) -> Iterator[Table]:
        return iter(self._parts)

    @property
    def place(self) -> Place:
        return self._parts.place


class _OwnRecord(_OneTable):
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


class _Chosen:
    """All tables of a binary file by their first rows, then the other rows of the chosen one."""

    is_whole = False

    def __init__(self, path: Path, size: int, place: Place | None) -> None:
        self._path, self._size = path, size
        self._first: list[Table] = []
        self._place: Place | None = dict(place) if place else None

    @property
    def beside(self) -> list[Table]:
        return self._first[1:]

    def keep(self, table: Table, columns: Sequence[str]) -> None:
        number = next(k for k, one in enumerate(self._first) if one is table)
        self._place = {"row": table.n_rows, "table": number, "columns": list(columns)}

    @property
    def place(self) -> Place | None:
        return self._place

    def _kept(self) -> Place:
        # all columns of the first table, if nobody chose
        return self._place or {"row": self._first[0].n_rows, "table": 0, "columns": None}


class _Fenced(_Chosen):
    """A format that is read part by part in a process of its own."""

    def __init__(self, path: Path, kind: str, size: int, place: Place | None) -> None:
        super().__init__(path, size, place)
        self._kind = kind

    def __iter__(self) -> Iterator[Table]:
        if self._place is None:
            parts = fenced_parts(self._path, self._kind, Window(0, self._size))
            self._first = [table for table in next(parts, []) if len(table.row) and table.numbers]
            parts.close()
            if not self._first:
                raise LogError(f"{self._path}: {self._kind}: no columns of numbers with rows")
            yield self._first[0]
        place = self._kept()
        window = Window(place["row"], self._size, place["table"], place["columns"])
        for tables in fenced_parts(self._path, self._kind, window):
            for table in tables[:1]:
                self._place = place | {"row": table.n_rows}
                yield table


class _Sliced(_Chosen):
    """A format whose library reads all at once; what is computed of its rows takes only the memory of a part."""

    def __iter__(self) -> Iterator[Table]:
        tables = read_tables(self._path)
        if self._place is None:
            self._first = [self._rows(table, 0) for table in tables]
            yield self._first[0]
        place = self._kept()
        chosen = tables[place["table"]]
        del tables
        for begin in range(place["row"], len(chosen.row), self._size):
            table = self._rows(chosen, begin)
            self._place = place | {"row": table.n_rows}
            yield table

    def _rows(self, table: Table, begin: int) -> Table:
        end = min(begin + self._size, len(table.row))
        return replace(table.rows(begin, end), n_rows=end)


class _Whole(_OneTable):
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
        return _Texts(TextParts(path, delimiter, size, place))
    if kind in FENCED:
        return _Fenced(path, kind, size, place)
    if kind in SLICED:
        return _Sliced(path, size, place)
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

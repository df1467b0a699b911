"""Text logs: rows that can be read become numbers, the others are listed with their lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import msgspec

from io_bridge.logs.formats.dialect import encoding_of
from io_bridge.logs.formats.header import Layout, find_layout
from io_bridge.logs.formats.labelled import MONITOR_NAME
from io_bridge.logs.formats.prepared import Prepared, prepared
from io_bridge.logs.formats.table import (
    MOST_COLUMNS,
    LogError,
    Table,
    unique_names,
)
from io_bridge.logs.formats.text_lines import (
    MARKS,
    LinesState,
    TextLines,
    as_lines,
    end_of_line,
    inner_of,
    lines_of,
)
from io_bridge.logs.formats.text_rows import TextRows, take_rows

PART = 50_000  # rows of a table of a long text


def read_text(
    path: Path, raw: bytes, delimiter: str | None = None, *, is_cut: bool = False
) -> Table:
    """Read a text log.

    Parameters
    ----------
    path : Path
        Named in errors.
    raw : bytes
        The content, unpacked.
    delimiter : str, optional
        Given by a mapping; found if not.
    is_cut : bool
        Its packing ended too early.

    Raises
    ------
    LogError
        It is not a text, or has no rows of numbers.
    """
    encoding = encoding_of(path, raw)
    inner = inner_of(encoding, raw)
    text = as_lines(raw[len(MARKS.get(encoding, b"")) :], inner)
    ends_well = text.endswith(b"\n")
    reader = TextTables(path, text, (encoding, inner), delimiter)
    return reader.table(text, ends_well and not is_cut)


class TextParts:
    """A text log of any length, plain or packed, in tables of about `size` rows, one after the other; iterate once.

    What its columns are is known from the first of them.

    Parameters
    ----------
    place : dict, optional
        Of another one of the same file: its tables go on from there.

    Raises
    ------
    LogError
        As `read_text`.
    """

    is_whole = False

    def __init__(
        self, path: Path, delimiter: str | None, size: int, place: dict[str, Any] | None = None
    ) -> None:
        self._path, self._delimiter, self._size = path, delimiter, size
        self._reader: TextTables | None = None
        state = None
        if place:
            state = msgspec.convert(place["lines"], LinesState)
            self._reader = TextTables.again(path, place["columns"])
        self._lines = TextLines(path, state)

    def __iter__(self) -> Iterator[Table]:
        """Yield the tables."""
        lines = self._lines
        for text, is_last in lines.blocks(self._size):
            if self._reader is None:
                whole = text + lines.coming
                self._reader = TextTables(
                    self._path, whole, (lines.encoding, lines.inner), self._delimiter
                )
            yield self._reader.table(text, not is_last or (lines.ends_well and not lines.is_cut))

    @property
    def place(self) -> dict[str, Any]:
        """Return the place behind the newest table."""
        columns = self._reader.place if self._reader else {}
        return {"lines": msgspec.structs.asdict(self._lines.state), "columns": columns}


class TextTables:
    """The lines of a text as tables; dialect and columns are found in the first of them.

    Raises
    ------
    LogError
        No delimiter makes rows of numbers of them, or too many columns.
    """

    def __init__(self, path: Path, text: bytes, encodings: tuple[str, str], delimiter: str | None):
        self._path, (self._encoding, self._inner) = path, encodings
        lines = lines_of(text, self._inner)
        self._prepared, dialect = prepared(path, lines, delimiter)
        lines = self._prepared.lines(lines) if self._prepared.is_needed else lines
        if dialect.n_columns > MOST_COLUMNS:
            raise LogError(f"{path}: {dialect.n_columns} columns, at most {MOST_COLUMNS} are read")
        self._layout = find_layout(dialect, lines)
        labels = self._prepared.labels
        if labels and self._prepared.monitored:
            labels = (MONITOR_NAME, *labels)
        if labels and len(labels) == dialect.n_columns:
            self._layout = replace(self._layout, names=labels, units=None, header=-1)
        self._names = unique_names(list(self._layout.names or [""] * dialect.n_columns))
        self._next_line = self._next_row = 0

    @classmethod
    def again(cls, path: Path, place: Mapping[str, Any]) -> TextTables:
        """Return the reader of columns whose place this is."""
        reader = cls.__new__(cls)
        reader._path, reader._names = path, list(place["names"])
        reader._encoding, reader._inner = place["encodings"]
        reader._prepared = msgspec.convert(place["prepared"], Prepared)
        reader._layout = msgspec.convert(place["layout"], Layout)
        reader._next_line, reader._next_row = place["next"]
        return reader

    @property
    def place(self) -> dict[str, Any]:
        """Return what its columns are, and the next line and row."""
        return {
            "names": self._names,
            "encodings": (self._encoding, self._inner),
            "prepared": asdict(self._prepared),
            "layout": asdict(self._layout),
            "next": (self._next_line, self._next_row),
        }

    def table(self, text: bytes, ends_well: bool) -> Table:
        """Return the table of the next lines.

        Raises
        ------
        LogError
            The first ones have no row.
        """
        layout, names = self._layout, self._names
        if self._prepared.is_needed:
            plain = self._prepared.lines(lines_of(text, self._inner))
            text = "".join(f"{line}\n" for line in plain).encode(
                "cp1252" if self._inner == "cp1252" else "utf-8", errors="replace"
            )
        is_first = not self._next_line
        rows = TextRows(layout, len(names), self._inner, self._next_row, self._next_line)
        at = 0
        if is_first:
            at = end_of_line(text, 0, layout.first)
            rows.at_line = layout.first
        take_rows(text, at, layout, names, rows, ends_well)
        numbers, place = rows.columns()
        if is_first and not numbers.size:
            raise LogError(f"{self._path}: a header but no data row")
        self._next_line, self._next_row = rows.at_line, rows.n_rows
        words = {names[k]: cells for k, cells in rows.words.items()}
        units = dict(zip(names, layout.units, strict=True)) if layout.units else {}
        return Table(
            name="",
            numbers={name: numbers[k] for k, name in enumerate(names) if not layout.is_word[k]},
            words=words,
            row=place[0],
            n_rows=rows.n_rows,
            line=place[1],
            units=units,
            remarks=layout.remarks,
            spoilt=tuple(rows.spoilt),
            form={
                "format": "text",
                "encoding": self._encoding,
                "delimiter": layout.dialect.delimiter,
                "decimal": layout.dialect.decimal,
                "header_line": str(layout.header + 1),
            },
            has_names=layout.names is not None,
        )

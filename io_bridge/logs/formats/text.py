"""Text logs: rows that can be read become numbers, the others are listed with their lines."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

import numpy as np

from io_bridge.logs.formats.dialect import (
    HEXADECIMAL,
    NO_NUMBER,
    Dialect,
    decoded,
    encoding_of,
    find_dialect,
)
from io_bridge.logs.formats.header import Layout, cells_of, find_layout
from io_bridge.logs.formats.labelled import labels_of, without_labels
from io_bridge.logs.formats.opened import Unpacking
from io_bridge.logs.formats.table import (
    MOST_COLUMNS,
    MOST_SPOILT,
    MOST_STREAMED,
    Array,
    LogError,
    Spoilt,
    Table,
    unique_names,
)

PART = 50_000  # rows of a table of a long text
HEAD_BYTES = 1 << 20  # by which its encoding is known
MINUS = "\N{MINUS SIGN}"
CHUNK = 4096  # lines that are read at once while none of them is spoilt
LONGEST_LINE = 65_536
SHOWN = 40  # letters of a spoilt place
ENDS = re.compile(r"\r\n|\n|\r")


@dataclass
class _Rows:
    # numbers and words, chunk by chunk
    blocks: list[Array] = field(default_factory=list)
    words: list[list[str]] = field(default_factory=list)
    row: list[int] = field(default_factory=list)
    line: list[int] = field(default_factory=list)
    spoilt: list[Spoilt] = field(default_factory=list)
    n_rows: int = 0

    def tell(self, kind: str, line: int, text: str, expected: str, column: str = "") -> None:
        if len(self.spoilt) < MOST_SPOILT:
            self.spoilt.append(Spoilt(kind, self.n_rows, line, text[:SHOWN], expected, column))


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
    text, encoding = decoded(path, raw)
    lines = ENDS.split(text.replace(MINUS, "-"))
    ends_well = not lines[-1]
    if ends_well:
        lines.pop()
    return TextTables(path, lines, encoding, delimiter).table(lines, ends_well and not is_cut)


def text_parts(path: Path, delimiter: str | None = None, size: int = PART) -> Iterator[Table]:
    """Read a text log of any length, plain or packed, in tables of about `size` rows, one after the other.

    What its columns are is known from the first of them.

    Raises
    ------
    LogError
        As `read_text`.
    """
    source = Unpacking(path, MOST_STREAMED)
    head = b""
    pieces = iter(source)
    for piece in pieces:
        head += piece
        if len(head) >= HEAD_BYTES:
            break
    encoding = encoding_of(path, head, is_whole=len(head) < HEAD_BYTES)
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    reader: TextTables | None = None
    lines: list[str] = []
    rest = ""
    for piece in chain((head,), pieces):
        text = rest + decoder.decode(piece).replace(MINUS, "-")
        # of an end of two signs the second one may be in the next piece
        held = "\r" if text.endswith("\r") else ""
        *whole, rest = ENDS.split(text[: len(text) - len(held)])
        rest += held
        lines += whole
        while len(lines) > 2 * size:
            reader = reader or TextTables(path, lines, encoding, delimiter)
            yield reader.table(lines[:size], True)
            lines = lines[size:]
    rest += decoder.decode(b"", final=True)
    last = [line for line in ENDS.split(rest) if line]
    reader = reader or TextTables(path, lines + last, encoding, delimiter)
    yield reader.table(lines + last, not last and not source.is_cut)


class TextTables:
    """The lines of a text as tables; dialect and columns are found in the first of them.

    Raises
    ------
    LogError
        No delimiter makes rows of numbers of them, or too many columns.
    """

    def __init__(self, path: Path, lines: Sequence[str], encoding: str, delimiter: str | None):
        self._labels = labels_of(lines)
        lines = without_labels(lines, self._labels) if self._labels else lines
        dialect = find_dialect(path, lines, delimiter)
        if dialect.n_columns > MOST_COLUMNS:
            raise LogError(f"{path}: {dialect.n_columns} columns, at most {MOST_COLUMNS} are read")
        self._path, self._encoding = path, encoding
        self._layout = find_layout(dialect, lines)
        if self._labels and len(self._labels) == dialect.n_columns:
            self._layout = replace(self._layout, names=self._labels, units=None, header=-1)
        self._names = unique_names(list(self._layout.names or [""] * dialect.n_columns))
        self._next_line = self._next_row = 0

    def table(self, lines: Sequence[str], ends_well: bool) -> Table:
        """Return the table of the next lines.

        Raises
        ------
        LogError
            The first ones have no row.
        """
        layout, names = self._layout, self._names
        lines = without_labels(lines, self._labels) if self._labels else lines
        is_first = not self._next_line
        rows = _Rows(n_rows=self._next_row)
        first = layout.first if is_first else 0
        _read_rows(lines, first, self._next_line, layout, names, rows, ends_well)
        if is_first and not rows.blocks:
            raise LogError(f"{self._path}: a header but no data row")
        self._next_line += len(lines)
        self._next_row = rows.n_rows
        n = len(names)
        numbers = np.concatenate(rows.blocks) if rows.blocks else np.zeros((0, n))
        words = {
            name: [row[k] for row in rows.words]
            for k, name in enumerate(names)
            if layout.is_word[k] or layout.is_hexadecimal[k]
        }
        units = dict(zip(names, layout.units, strict=True)) if layout.units else {}
        return Table(
            name="",
            numbers={name: numbers[:, k] for k, name in enumerate(names) if not layout.is_word[k]},
            words=words,
            row=np.array(rows.row, dtype=np.int64),
            n_rows=rows.n_rows,
            line=np.array(rows.line, dtype=np.int64),
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


def _read_rows(
    lines: Sequence[str],
    begin: int,
    at: int,
    layout: Layout,
    names: list[str],
    rows: _Rows,
    ends_well: bool,
) -> None:
    # `at`: lines of the text before these
    plain = not any(layout.is_word) and not any(layout.is_hexadecimal)
    while begin < len(lines):
        end = min(begin + CHUNK, len(lines))
        is_last = end == len(lines)
        may_be = plain and (ends_well or not is_last)
        block = _at_once(layout.dialect, lines[begin:end]) if may_be else None
        if block is not None:
            rows.blocks.append(block)
            rows.row += range(rows.n_rows, rows.n_rows + len(block))
            rows.line += range(at + begin + 1, at + end + 1)
            rows.n_rows += len(block)
        else:
            chunk = [(at + i, lines[i]) for i in range(begin, end) if lines[i].strip()]
            last = chunk[-1][0] if is_last and chunk and not ends_well else -1
            _one_by_one(layout, names, chunk, rows, last)
        begin = end


def _at_once(dialect: Dialect, texts: Sequence[str]) -> Array | None:
    # by the parser of NumPy, which is fast and forgives nothing; an empty line is left to `_one_by_one`
    if max(map(len, texts)) > LONGEST_LINE:
        return None
    if any('"' in line or "_" in line for line in texts):
        return None
    if dialect.decimal == ",":
        texts = [line.replace(",", ".") for line in texts]
    delimiter = None if dialect.delimiter == " " else dialect.delimiter
    if delimiter and texts[0].rstrip().endswith(delimiter):
        texts = [line.rstrip().removesuffix(delimiter) for line in texts]
    try:
        block = np.loadtxt(texts, delimiter=delimiter, comments=None, ndmin=2)
    except (ValueError, OverflowError):
        return None
    return block if block.shape == (len(texts), dialect.n_columns) else None


def _one_by_one(
    layout: Layout, names: list[str], chunk: Sequence[tuple[int, str]], rows: _Rows, last: int
) -> None:
    dialect, kept = layout.dialect, []
    n = dialect.n_columns
    lengths = [len(line.strip()) for _, line in chunk]
    shortest = min(lengths[:-1], default=0)
    for (i, line), length in zip(chunk, lengths, strict=True):
        if i == layout.header:
            continue
        cells = cells_of(dialect, line[:LONGEST_LINE])
        if i == last and (len(cells) != n or length < shortest):
            rows.tell("cut last row", i + 1, line, f"{n} whole cells and an end of the line")
        elif layout.is_header(cells):
            rows.tell("repeated header", i + 1, line, "a row of numbers")
        elif len(cells) != n:
            rows.tell("damaged row", i + 1, line, f"{n} cells, here {len(cells)}")
        else:
            values = _values(layout, names, cells, i, rows)
            if values is not None:
                kept.append(values)
                rows.words.append(cells)
                rows.row.append(rows.n_rows)
                rows.line.append(i + 1)
        rows.n_rows += 1
    if kept:
        rows.blocks.append(np.array(kept))


def _values(
    layout: Layout, names: list[str], cells: list[str], i: int, rows: _Rows
) -> list[float] | None:
    values, wrong = [], []
    for k, cell in enumerate(cells):
        value = float("nan")
        if HEXADECIMAL.match(cell):
            value = float(int(cell[:20], 16))
        elif layout.dialect.is_number(cell):
            value = float(cell.replace(",", ".") if layout.dialect.decimal == "," else cell)
        elif not layout.is_word[k] and cell.lower() not in NO_NUMBER:
            wrong.append(k)
        values.append(value)
    if len(wrong) > 0.5 * (len(cells) - sum(layout.is_word)):
        rows.tell("damaged row", i + 1, " ".join(cells), "a row of numbers")
        return None
    for k in wrong:
        rows.tell("damaged cell", i + 1, cells[k], "a number", names[k])
    return values

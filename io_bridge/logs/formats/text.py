"""Text logs: rows that can be read become numbers, the others are listed with their lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from io_bridge.logs.formats.dialect import HEXADECIMAL, NO_NUMBER, Dialect, decoded, find_dialect
from io_bridge.logs.formats.header import Layout, cells_of, find_layout
from io_bridge.logs.formats.table import (
    MOST_COLUMNS,
    MOST_SPOILT,
    Array,
    LogError,
    Spoilt,
    Table,
    unique_names,
)

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
    lines = ENDS.split(text)
    ends_well = not lines[-1]
    if ends_well:
        lines.pop()
    dialect = find_dialect(path, lines, delimiter)
    if dialect.n_columns > MOST_COLUMNS:
        raise LogError(f"{path}: {dialect.n_columns} columns, at most {MOST_COLUMNS} are read")
    layout = find_layout(dialect, lines)
    names = unique_names(list(layout.names or [""] * dialect.n_columns))
    rows = _Rows()
    _read_rows(lines, layout, names, rows, ends_well and not is_cut)
    if not rows.blocks:
        raise LogError(f"{path}: a header but no data row")
    numbers = np.concatenate(rows.blocks)
    words = {
        name: [row[k] for row in rows.words] for k, name in enumerate(names) if layout.is_word[k]
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
            "encoding": encoding,
            "delimiter": dialect.delimiter,
            "decimal": dialect.decimal,
            "header_line": str(layout.header + 1),
        },
        has_names=layout.names is not None,
    )


def _read_rows(
    lines: Sequence[str], layout: Layout, names: list[str], rows: _Rows, ends_well: bool
) -> None:
    plain = not any(layout.is_word)
    begin = layout.first
    while begin < len(lines):
        end = min(begin + CHUNK, len(lines))
        is_last = end == len(lines)
        chunk = [(i, lines[i]) for i in range(begin, end) if lines[i].strip()]
        block = _at_once(layout.dialect, chunk) if plain and (ends_well or not is_last) else None
        if block is not None:
            rows.blocks.append(block)
            rows.row += range(rows.n_rows, rows.n_rows + len(chunk))
            rows.line += (i + 1 for i, _ in chunk)
            rows.n_rows += len(chunk)
        else:
            last = chunk[-1][0] if is_last and chunk and not ends_well else -1
            _one_by_one(layout, names, chunk, rows, last)
        begin = end


def _at_once(dialect: Dialect, chunk: Sequence[tuple[int, str]]) -> Array | None:
    # by the parser of NumPy, which is fast and forgives nothing
    if not chunk:
        return None
    texts = [line for _, line in chunk]
    if any('"' in line or "_" in line or len(line) > LONGEST_LINE for line in texts):
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
    return block if block.shape == (len(chunk), dialect.n_columns) else None


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
        if layout.dialect.is_number(cell):
            value = float(cell.replace(",", ".") if layout.dialect.decimal == "," else cell)
        elif HEXADECIMAL.match(cell):
            value = float(int(cell[:20], 16))
        elif not layout.is_word[k] and cell.lower() not in NO_NUMBER:
            wrong.append(k)
        values.append(value)
    if len(wrong) > 0.5 * (len(cells) - sum(layout.is_word)):
        rows.tell("damaged row", i + 1, " ".join(cells), "a row of numbers")
        return None
    for k in wrong:
        rows.tell("damaged cell", i + 1, cells[k], "a number", names[k])
    return values

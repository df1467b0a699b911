"""The lines of a text log that are no data: banner, names, units; and how to know a row of data."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from io_bridge.logs.formats.dialect import BEGINS_COMMENT, HEXADECIMAL, NO_NUMBER, Dialect
from io_bridge.logs.formats.stamps import STAMP

LONGEST_BANNER = 2000  # lines
SAMPLE = 400
AHEAD, NEXT, MOSTLY = (
    16,
    4,
    0.75,
)  # lines from the first row on, and how many of them are rows at least
SENTENCE = {
    "in",
    "of",
    "is",
    "are",
    "the",
    "and",
    "with",
    "for",
    "to",
    "from",
    "im",
    "der",
    "und",
    "mit",
}
OF_NAMES = {"name", "names", "signal", "signals", "channel", "channels", "symbolname"}
OF_UNITS = {"unit", "units", "einheit", "einheiten"}
SAID_ABOVE = 20  # lines above the units, among which the names are looked for
BRACKETED = re.compile(r"[\[(<].*[\])>]\Z")
UNITS = {
    "s", "sec", "ms", "us", "µs", "ns", "min", "h", "hh:mm:ss", "ticks", "deg", "°", "grad", "rad", "mrad", "rev",
    "turns", "counts", "count", "cnt", "inc", "lsb", "nm", "n·m", "n.m", "n*m", "mnm", "cnm", "knm", "v", "mv", "a",
    "ma", "%", "-", "1", "", "rpm", "rad/s", "deg/s", "°/s", "m/s", "km/h", "hz", "raw", "n", "m", "mm", "c", "°c",
    "bit", "bool", "s]",
}  # fmt: skip


@dataclass(frozen=True)
class Layout:
    """Columns of a text log, and the way to tell its rows."""

    dialect: Dialect
    names: tuple[str, ...] | None
    units: tuple[str, ...] | None
    header: int
    """Index of the line with the names; -1 without any."""
    first: int
    """Index of the first row of data."""
    is_word: tuple[bool, ...]
    is_hexadecimal: tuple[bool, ...]
    """Columns of numbers that are kept as words too: names of messages are written so."""
    remarks: tuple[str, ...]

    def is_header(self, cells: Sequence[str]) -> bool:
        """Tell a line of names among rows of data."""
        plain = [_bare(cell) for cell in cells if cell]
        if not plain or any(self.dialect.is_number(cell) for cell in plain):
            return False
        if self.names is None:
            return len(cells) == self.dialect.n_columns and is_name_line(self.dialect, cells)
        known = {_bare(name) for name in self.names}
        return sum(cell in known for cell in plain) > 0.5 * len(plain)


def find_layout(dialect: Dialect, lines: Sequence[str]) -> Layout:
    """Find names, units and the first row of data of a text."""
    step = max(1, len(lines) // SAMPLE)
    rows = [cells_of(dialect, line) for line in (*lines[:60], *lines[60::step]) if line.strip()]
    typical = [row for row in rows if len(row) == dialect.n_columns]
    numeric = _numeric_columns(dialect, typical)
    first = _first_row(dialect, numeric, lines)
    above = max(0, first - LONGEST_BANNER)
    names, units, header = _names_above(dialect, lines, above, first)
    if names is None:
        # names that come late: their line stands among the rows
        for i in range(first, len(lines)):
            cells = cells_of(dialect, lines[i])
            if len(cells) == dialect.n_columns and is_name_line(dialect, cells):
                names, header = tuple(_bare(cell) for cell in cells), i
                break
    banner = [line.strip() for line in lines[above:first] if line.strip()]
    if header >= 0 and header < first and banner:
        banner = [line for line in banner if line != lines[header].strip()]
    words = tuple(not is_numeric for is_numeric in numeric)
    hexadecimal = tuple(
        is_numeric and any(HEXADECIMAL.match(row[k]) for row in typical)
        for k, is_numeric in enumerate(numeric)
    )
    remarks = tuple(banner[:200])
    return Layout(dialect, names, units, header, first, words, hexadecimal, remarks)


def cells_of(dialect: Dialect, line: str) -> list[str]:
    """Return the cells of a line; a delimiter at its end makes none."""
    cells = dialect.cells(line.strip("\r\n"))
    if len(cells) == dialect.n_columns + 1 and cells[-1] == "":
        cells.pop()
    return cells


def is_name_line(dialect: Dialect, cells: Sequence[str]) -> bool:
    """Tell a line of names: no number in it, most cells with letters."""
    filled = [cell for cell in cells if cell]
    if not filled or any(dialect.is_number(cell) or STAMP.match(cell) for cell in filled):
        return False
    lettered = sum(
        any(sign.isalpha() for sign in cell) and cell.lower() not in NO_NUMBER and len(cell) < 80
        for cell in filled
    )
    return lettered >= 0.6 * len(cells) and "�" not in "".join(cells)


def _numeric_columns(dialect: Dialect, rows: Sequence[list[str]]) -> tuple[bool, ...]:
    # columns whose filled cells are mostly numbers
    found = []
    for k in range(dialect.n_columns):
        filled = [row[k] for row in rows if row[k].lower() not in NO_NUMBER]
        good = sum(dialect.is_number(cell) for cell in filled)
        found.append(good >= 0.5 * max(1, len(filled)))
    return tuple(found)


def _first_row(dialect: Dialect, numeric: Sequence[bool], lines: Sequence[str]) -> int:
    # a banner may have lines that look like rows; behind the first row most lines are rows
    first = -1
    for i, line in enumerate(lines):
        if not _is_data(dialect, numeric, cells_of(dialect, line)):
            continue
        first = i if first < 0 else first
        ahead = [cells_of(dialect, one) for one in lines[i : i + AHEAD] if one.strip()]
        good = [_is_data(dialect, numeric, cells, whole=True) for cells in ahead]
        if all(sum(some) >= MOSTLY * len(some) for some in (good, good[:NEXT])):
            return i
        if i - first > LONGEST_BANNER:
            break
    return max(first, 0)


def _is_data(
    dialect: Dialect, numeric: Sequence[bool], cells: list[str], *, whole: bool = False
) -> bool:
    if len(cells) != dialect.n_columns:
        return False
    wanted = [cell for cell, is_numeric in zip(cells, numeric, strict=True) if is_numeric and cell]
    if whole:
        return all(dialect.is_number(cell) or cell.lower() in NO_NUMBER for cell in wanted)
    good = sum(dialect.is_number(cell) for cell in wanted)
    stamps = any(STAMP.match(cell) for cell in cells)
    return (good > 0 and good > 0.5 * len(wanted)) or (stamps and good > 0)


def _names_above(
    dialect: Dialect, lines: Sequence[str], above: int, first: int
) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None, int]:
    candidates: list[tuple[int, list[str]]] = []
    for i in range(first - 1, above - 1, -1):
        line = lines[i].strip("\r\n")
        if not line.strip():
            continue
        cells = _named_cells(dialect, line)
        if cells is None and line.lstrip().startswith(BEGINS_COMMENT[:3]):
            continue  # a remark between the names and the rows
        if cells is None:
            break
        candidates.append((i, cells))
        if len(candidates) == 3:
            break
    if not candidates:
        return None, None, -1
    at, cells = candidates[0]
    if cells[0].lower() in OF_UNITS:
        # both lines begin with what they are, and others may stand between them
        for i in range(at - 1, max(above, at - SAID_ABOVE) - 1, -1):
            upper = cells_of(dialect, lines[i])
            if len(upper) == len(cells) and upper[0].lower() in OF_NAMES:
                units = tuple("" if c.lower() in OF_UNITS else c.strip("[]()<>") for c in cells)
                return tuple(map(_bare, upper)), units, i
    if _all_units(cells) and len(candidates) > 1:
        upper_at, upper = candidates[1]
        if not _all_units(upper):
            return tuple(map(_bare, upper)), tuple(c.strip("[]()<>") for c in cells), upper_at
    if _all_units(cells) and len(cells) > 1 and all(BRACKETED.match(c) for c in cells if c):
        return None, tuple(c.strip("[]()<>") for c in cells), -1
    return tuple(map(_bare, cells)), None, at


def _named_cells(dialect: Dialect, line: str) -> list[str] | None:
    for mark in BEGINS_COMMENT:
        if line.lstrip().startswith(mark) and not (mark == "'" and line.count("'") > 1):
            line = line.lstrip()[len(mark) :].lstrip()
    cells = cells_of(dialect, line)
    n = dialect.n_columns
    if dialect.delimiter == " " and len(cells) != n:
        wide = [cell for cell in re.split(r"\t+| {2,}", line.strip()) if cell]
        joined = re.sub(r"\s+([\[(])", r"\1", line).split()
        cells = next((row for row in (wide, joined) if len(row) == n), cells)
    if len(cells) not in ((n,) if n < 3 else (n - 1, n, n + 1)):
        return None
    filled = [cell for cell in cells if cell]
    if not filled or any(dialect.is_number(cell) for cell in filled):
        return None
    if dialect.delimiter == " " and SENTENCE & {cell.lower() for cell in filled}:
        return None
    if not _all_units(cells) and not is_name_line(dialect, cells):
        return None
    cells = cells[:n] + [""] * (n - len(cells))
    return cells


def _all_units(cells: Sequence[str]) -> bool:
    plain = [cell.strip("[]()<> ").lower() for cell in cells]
    if any(BRACKETED.match(cell) for cell in cells):
        return all(not cell or BRACKETED.match(cell) for cell in cells)
    known = sum(cell in UNITS for cell in plain)
    # `s;m` may be names; a third unit, or one that is no letter, says more
    return known == len(plain) and (len(plain) > 2 or any(len(cell) > 1 for cell in plain))


def _bare(cell: str) -> str:
    for mark in ("#", "%", "//"):
        if cell.startswith(mark):
            cell = cell[len(mark) :]
    return cell.strip().strip("\"'").strip()

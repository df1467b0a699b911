"""Lines of a text made plain before their cells are read: brackets and names go, hexadecimal numbers get their mark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from io_bridge.logs.formats.dialect import BARE_HEXADECIMAL, NO_NUMBER, Dialect, find_dialect
from io_bridge.logs.formats.labelled import (
    are_enclosed,
    are_monitored,
    labels_of,
    with_monitor,
    without_brackets,
    without_labels,
    without_monitor,
)

SAMPLE = 400
MOSTLY = 0.9  # of the cells of a column are hexadecimal numbers of one width
LETTERED = 0.2  # and a larger share of them has letters


@dataclass(frozen=True)
class Prepared:
    """The way in which the lines of one text are made plain.

    Attributes
    ----------
    encloses : bool
        Each line stands between brackets.
    labels : tuple of str
        Names that cells bring with them.
    widths : dict of int to int
        Columns of hexadecimal numbers without a mark, and their digits.
    delimiter : str
        Of the cells.
    monitored : int
        Cells of a line behind the time that a serial monitor wrote before it; 0: there is no such time.
    """

    encloses: bool = False
    labels: tuple[str, ...] = ()
    widths: dict[int, int] | None = None
    delimiter: str = ","
    monitored: int = 0

    @property
    def is_needed(self) -> bool:
        """True: lines are not plain as they are."""
        return bool(self.encloses or self.labels or self.widths or self.monitored)

    def lines(self, lines: Sequence[str]) -> list[str]:
        """Return lines that are plain."""
        if self.monitored:
            inner, stamps = without_monitor(lines)
            plain = replace(self, monitored=0).lines(inner)
            return with_monitor(plain, stamps, self.delimiter, self.monitored)
        found = without_brackets(lines) if self.encloses else list(lines)
        found = without_labels(found, self.labels) if self.labels else found
        return [self._marked(line, self.widths) for line in found] if self.widths else found

    def _marked(self, line: str, widths: dict[int, int]) -> str:
        cells = line.split() if self.delimiter == " " else line.split(self.delimiter)
        for k, width in widths.items():
            if k < len(cells):
                cell = cells[k].strip()
                if len(cell) == width and BARE_HEXADECIMAL.match(cell):
                    cells[k] = f"0x{cell}"
        return self.delimiter.join(cells)


def prepared(path: Path, lines: Sequence[str], delimiter: str | None) -> tuple[Prepared, Dialect]:
    """Find how the lines of a text are made plain, and their dialect then.

    Raises
    ------
    LogError
        No delimiter makes rows of numbers of them.
    """
    if are_monitored(lines):
        way, dialect = prepared(path, without_monitor(lines)[0], delimiter)
        n = dialect.n_columns
        return replace(way, monitored=n), replace(dialect, n_columns=n + 1)
    way = Prepared(encloses=are_enclosed(lines))
    lines = way.lines(lines)
    way = replace(way, labels=labels_of(lines))
    plain = without_labels(lines, way.labels) if way.labels else lines
    dialect = find_dialect(path, plain, delimiter)
    widths = _unmarked(dialect, plain)
    return replace(way, widths=widths, delimiter=dialect.delimiter), dialect


def _unmarked(dialect: Dialect, lines: Sequence[str]) -> dict[int, int]:
    rows = [dialect.cells(line) for line in lines[:: max(1, len(lines) // SAMPLE)]]
    rows = [row for row in rows if len(row) == dialect.n_columns]
    found = {}
    for k in range(dialect.n_columns):
        cells = [row[k] for row in rows if row[k].lower() not in NO_NUMBER]
        widths = Counter(len(cell) for cell in cells if BARE_HEXADECIMAL.match(cell))
        if not widths:
            continue
        width, n = widths.most_common(1)[0]
        lettered = sum(len(cell) == width and not cell.isdecimal() for cell in cells)
        if n >= MOSTLY * len(cells) and lettered > LETTERED * n:
            found[k] = width
    return found

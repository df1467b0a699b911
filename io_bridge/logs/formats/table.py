"""The form in which every format of log files is handed on: named columns of numbers or words, row by row."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

MOST_BYTES = 512 << 20  # of a file, before and after decompression
MOST_STREAMED = 16 << 30  # of a file that is read part by part
MOST_CELLS = 200_000_000
MOST_COLUMNS = 256
MOST_SPOILT = 100_000  # places of a file that are listed one by one


class LogError(ValueError):
    """A log cannot be used; one line names the file, the place and the reason."""


@dataclass(frozen=True)
class Spoilt:
    """A place of a file that could not be read.

    Attributes
    ----------
    kind : str
        `damaged row`, `damaged cell`, `repeated header`, `cut last row`.
    row : int
        Data row, from 0.
    line : int
        Line of a text file, from 1; 0 in other formats.
    text : str
        The text there, shortened.
    expected : str
        Words for what should be there.
    column : str
        Column of a cell, "" for a whole row.
    """

    kind: str
    row: int
    line: int
    text: str
    expected: str
    column: str = ""


@dataclass(frozen=True)
class Table:
    """Columns of one length.

    Attributes
    ----------
    name : str
        Group, topic or data set of the file; "" where it has only one table.
    numbers : dict of str to ndarray of float64, shape (n,)
        Columns of numbers in file order, NaN where a cell has none.
    words : dict of str to list of str
        Columns of text.
    row : ndarray of int64, shape (n,)
        Data row of the file, from 0.
    n_rows : int
        Data rows of the file, those that were spoilt too.
    line : ndarray of int64 or None
        Line of a text file, from 1.
    units : dict of str to str
        Units that the file states beside its columns.
    remarks : tuple of str
        Lines before the header, and what the file says of itself.
    spoilt : tuple of Spoilt
        Places that could not be read.
    form : dict of str to str
        Format, encoding, delimiter, decimal sign and line of the header, as found.
    has_names : bool
        The columns have names of the file's own.
    """

    name: str
    numbers: dict[str, Array]
    words: dict[str, list[str]]
    row: Rows
    n_rows: int
    line: Rows | None = None
    units: dict[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    spoilt: tuple[Spoilt, ...] = ()
    form: dict[str, str] = field(default_factory=dict)
    has_names: bool = True

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all columns."""
        return (*self.numbers, *(name for name in self.words if name not in self.numbers))

    def only(self, names: Container[str]) -> Table:
        """Return the table with these columns alone."""
        return replace(
            self,
            numbers={name: values for name, values in self.numbers.items() if name in names},
            words={name: cells for name, cells in self.words.items() if name in names},
        )

    def rows(self, first: int, end: int) -> Table:
        """Return the rows from `first` to before `end` of the table."""
        return replace(
            self,
            numbers={name: values[first:end] for name, values in self.numbers.items()},
            words={name: cells[first:end] for name, cells in self.words.items()},
            row=self.row[first:end],
            line=None if self.line is None else self.line[first:end],
            spoilt=tuple(one for one in self.spoilt if one.row >= self.row[first]),
        )

    def followed_by(self, table: Table) -> Table:
        """Return the rows of both, of which the other ones come later in the same file."""
        line = None
        if self.line is not None and table.line is not None:
            line = np.concatenate([self.line, table.line])
        return replace(
            table,
            numbers={n: np.concatenate([v, table.numbers[n]]) for n, v in self.numbers.items()},
            words={name: [*cells, *table.words[name]] for name, cells in self.words.items()},
            row=np.concatenate([self.row, table.row]),
            line=line,
            spoilt=(*self.spoilt, *table.spoilt),
        )


def whole_table(
    name: str,
    numbers: dict[str, Array],
    units: dict[str, str],
    form: str,
    remarks: tuple[str, ...] = (),
) -> Table:
    """Return a table of a binary format, whose rows are all there."""
    n = len(next(iter(numbers.values()), np.zeros(0)))
    rows = np.arange(n, dtype=np.int64)
    return Table(name, numbers, {}, rows, n, units=units, remarks=remarks, form={"format": form})


def unique_names(names: list[str]) -> list[str]:
    """Name each column once: nameless ones by their number, repeated ones with a count."""
    seen: dict[str, int] = {}
    found = []
    for number, name in enumerate(names, start=1):
        given = name.strip() or f"column_{number}"
        seen[given] = seen.get(given, 0) + 1
        found.append(given if seen[given] == 1 else f"{given} ({seen[given]})")
    return found

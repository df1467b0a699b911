"""Recorded signals as every format takes them: groups of one time each, with units, events and facts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from io_bridge.recording.record import TIME_FIELD

PART_BYTES = 16 << 20  # of rows that are taken from a record at once
NS = 1_000_000_000
TEMPORARY = ".d"  # behind the name of a file: a folder of its writer, until it is whole

Array = NDArray[np.float64]
Times = NDArray[np.int64]


@dataclass(frozen=True)
class Happening:
    """An event of a run: when, of which kind, and in one sentence."""

    t_ns: int
    kind: str
    words: str


@dataclass(frozen=True)
class Group:
    """Signals that share their times: those that one task wrote.

    Attributes
    ----------
    name : str
    rows : ndarray
        A record: `t_ns`, and a float64 a signal.
    paths : tuple of str
        Signals that are exported.
    units : tuple of str
        Of each; "" where nobody knows it.
    period_ns : int
    """

    name: str
    rows: np.ndarray
    paths: tuple[str, ...]
    units: tuple[str, ...]
    period_ns: int

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def t_ns(self) -> Times:
        """All times, as an array of its own."""
        return np.array(self.rows[TIME_FIELD])

    def parts(
        self, of: Sequence[int] | None = None, most_rows: int | None = None
    ) -> Iterator[tuple[Times, Array]]:
        """Yield times and values of some rows after the other, shape (n,) and (n, number of signals).

        Parameters
        ----------
        of : sequence of int, optional
            Only these of `paths`, by their numbers.
        most_rows : int, optional
            At once, where a format has a size of its own; never more than 16 MiB of the record.
        """
        size = PART_BYTES // self.rows.dtype.itemsize
        size = max(1, size if most_rows is None else min(size, most_rows))
        for first in range(0, len(self), size):
            yield self.part(slice(first, first + size), of)

    def part(self, which: slice | Times, of: Sequence[int] | None = None) -> tuple[Times, Array]:
        """Return times and values of some rows."""
        names = self.rows.dtype.names or ()
        place = {name: k for k, name in enumerate(names)}
        columns = [place[path] for path in self.paths]
        if of is not None:
            columns = [columns[k] for k in of]
        rows = np.ascontiguousarray(self.rows[which])
        table = rows.view(np.float64).reshape(len(rows), len(names))
        first = columns[0] if columns else 0
        if columns == [*range(first, first + len(columns))]:
            # neighbours need no copy
            return np.array(rows[TIME_FIELD]), table[:, first : first + len(columns)]
        return np.array(rows[TIME_FIELD]), table[:, columns]


@dataclass(frozen=True)
class Measured:
    """Everything that is exported of a run.

    Attributes
    ----------
    name : str
        Of the run.
    groups : tuple of Group
        That with most rows first.
    utc_ns : int or None
        Nanoseconds from 1970-01-01T00:00:00Z to `t_ns = 0`; None: a replay has no such moment.
    events : tuple of Happening
        In the order of their times.
    facts : mapping
        Facts about the run that JSON can hold.
    files : mapping of str to bytes
        Files of the run folder, for a format that takes files in.
    """

    name: str
    groups: tuple[Group, ...]
    utc_ns: int | None
    events: tuple[Happening, ...]
    facts: Mapping[str, Any]
    files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Rows of all groups, for the progress."""
        return sum(len(group) for group in self.groups)

    @property
    def columns(self) -> list[tuple[str, str]]:
        """Path and unit of each signal, as one table has them."""
        return [pair for g in self.groups for pair in zip(g.paths, g.units, strict=True)]

    def joined(self) -> Iterator[tuple[Times, Array]]:
        """Yield parts of one table at the times of the first group; a signal of another group has its newest value."""
        first, *others = self.groups
        times = [group.t_ns for group in others]
        for t_ns, values in first.parts():
            pieces = [values]
            for group, there in zip(others, times, strict=True):
                row = np.searchsorted(there, t_ns, side="right") - 1
                held = group.part(np.maximum(row, 0))[1] if len(there) else None
                if held is None:
                    held = np.full((len(t_ns), len(group.paths)), np.nan)
                held[row < 0] = np.nan  # before the first
                pieces.append(held)
            yield t_ns, np.hstack(pieces)


def identifiers(paths: Iterable[str], longest: int = 63) -> dict[str, str]:
    """Return a name for each path that programming languages take: letters, digits, underscores, none of them twice."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for path in paths:
        name = re.sub(r"\W+", "_", path, flags=re.ASCII).strip("_") or "signal"
        if not name[0].isalpha():
            name = f"n_{name}"
        name = unique(name[-longest:].lstrip("_0123456789") or "signal", taken, longest)
        taken.add(name)
        found[path] = name
    return found


def unique(name: str, taken: Iterable[str], longest: int = 63) -> str:
    """Return a name that is not taken yet: with a number behind it, if need be."""
    made, number = name, 1
    while made in taken:
        number += 1
        made = f"{name[: longest - 1 - len(str(number))]}_{number}"
    return made

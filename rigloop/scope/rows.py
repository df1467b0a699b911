"""Rows of a task while they come: the chosen signals of each cycle, kept until nobody needs them any more."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from io_bridge.recording.record import TIME_FIELD, record_dtype

Rows = NDArray[np.void]


def cycle_path(task: str) -> str:
    """Return the signal that counts the executed cycles of a task."""
    return f"loop/{task}/cycle"


def picked(rows: Rows, paths: Sequence[str]) -> Rows:
    """Return a copy of rows with these signals alone; `t_ns` stays."""
    names = rows.dtype.names or ()
    words = [names.index(name) for name in (TIME_FIELD, *paths)]
    # the words are copied as they are: no bit of a NaN changes
    table = np.ascontiguousarray(rows).view(np.int64).reshape(len(rows), len(names))
    return np.ascontiguousarray(table[:, words]).view(record_dtype(paths))[:, 0]


class Kept:
    """Rows of one task in the order of their times, from a moment on that moves.

    Parameters
    ----------
    paths : sequence of str
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self._dtype = record_dtype(paths)
        self._pieces: deque[Rows] = deque()

    def add(self, rows: Rows) -> None:
        """Take the next ones."""
        if len(rows):
            self._pieces.append(rows)

    @property
    def newest_ns(self) -> int:
        """Time of the newest row; -1 without any."""
        return int(self._pieces[-1][TIME_FIELD][-1]) if self._pieces else -1

    def forget_before(self, t_ns: int) -> None:
        """Let go of pieces before a moment, but for the newest row before it."""
        while len(self._pieces) > 1 and self._pieces[1][TIME_FIELD][0] < t_ns:
            self._pieces.popleft()

    def between(self, from_ns: int, to_ns: int) -> Rows:
        """Return a copy of the rows from one moment on and before another."""
        found = []
        for piece in self._pieces:
            if piece[TIME_FIELD][0] >= to_ns:
                break
            low, high = (bisect_left(piece[TIME_FIELD], t_ns) for t_ns in (from_ns, to_ns))
            if low < high:
                found.append(piece[low:high])
        return np.concatenate(found) if found else np.empty(0, self._dtype)

    def last_before(self, t_ns: int) -> Rows:
        """Return a copy of the newest row before a moment, shape (1,); without any, shape (0,)."""
        for piece in reversed(self._pieces):
            row = bisect_left(piece[TIME_FIELD], t_ns) - 1
            if row >= 0:
                return np.array(piece[row : row + 1])
        return np.empty(0, self._dtype)


@dataclass(frozen=True)
class Gap:
    """A hole between two rows of a task.

    Attributes
    ----------
    t_ns : int
        Time of the row before it.
    lost : int
        Cycles that were executed, and are not here.
    skipped : int
        Periods in which the loop executed no cycle.
    """

    t_ns: int
    lost: int
    skipped: int


def gaps_of(rows: Rows, task: str, period_ns: int) -> tuple[Gap, ...]:
    """Return the holes of a task's rows, by the count of its cycles; without that count, all are of skipped periods."""
    steps = np.diff(rows[TIME_FIELD]) // period_ns - 1
    cycle = cycle_path(task)
    if cycle in (rows.dtype.names or ()):
        lost = np.rint(np.diff(rows[cycle])).astype(np.int64) - 1
    else:
        lost = np.zeros(len(steps), np.int64)
    return tuple(
        Gap(int(rows[TIME_FIELD][row]), int(lost[row]), int(max(0, steps[row] - lost[row])))
        for row in np.flatnonzero((steps > 0) | (lost > 0))
    )

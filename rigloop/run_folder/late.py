"""The cycles around each late one, from the signal table into the run folder and back."""

from __future__ import annotations

import tokenize
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rt_core.lateness.cause import Cause
from rt_core.lateness.trace import RECORD

ROW = np.dtype(
    [("event", "<i4"), ("late", "?"), *((name, RECORD[name]) for name in RECORD.names or ())]
)
# of a header that somebody changed, numpy's own reader raises whatever Python's parser does
NOT_READ = (
    OSError, ValueError, EOFError, TypeError, OverflowError, MemoryError, RecursionError, SyntaxError,
    tokenize.TokenError,
)  # fmt: skip
MOST_ROWS = 100_000  # of a file; the trace of a task keeps far fewer


@dataclass(frozen=True)
class LateEvent:
    """A late cycle with those before and after it.

    Attributes
    ----------
    at : int
        Row of the late cycle.
    rows : ndarray of rt_core.lateness.trace.RECORD
    """

    task: str
    at: int
    rows: NDArray[np.void]

    @property
    def cause(self) -> Cause:
        """The cause of its lateness."""
        return Cause(int(self.rows["cause"][self.at]))

    @property
    def excess_ns(self) -> int:
        """From its deadline to its end."""
        row = self.rows[self.at]
        return int(row["late_ns"]) + int(row["wall_ns"])


def late_file(task: str) -> str:
    """Name of a task's file in the run folder."""
    return f"{task}_late.npy"


def write_events(folder: Path, task: str, events: list[tuple[int, NDArray[np.void]]]) -> None:
    """Write the events of a task as one array: a row a cycle, with the number of its event."""
    table = np.zeros(sum(len(rows) for _, rows in events), ROW)
    begin = 0
    for number, (at, rows) in enumerate(events):
        part = table[begin : begin + len(rows)]
        part["event"] = number
        part["late"][at] = True
        for name in RECORD.names or ():
            part[name] = rows[name]
        begin += len(rows)
    np.save(folder / late_file(task), table)


def read_events(folder: Path, task: str) -> list[LateEvent]:
    """Read what `write_events` wrote; none if there is no such file, or it is another kind."""
    path = folder / late_file(task)
    try:
        # mapped: a header that promises more rows than the file has allocates nothing
        table = np.load(path, mmap_mode="r", allow_pickle=False) if path.is_file() else None
    except NOT_READ:
        return []
    if table is None or table.dtype != ROW or table.ndim != 1 or len(table) > MOST_ROWS:
        return []
    found = []
    for number in np.unique(table["event"]):
        rows = table[table["event"] == number]
        places = np.flatnonzero(rows["late"])
        if len(places):
            found.append(LateEvent(task, int(places[0]), rows))
    return found


def worst(events: list[LateEvent], periods_ns: Mapping[str, int], most: int) -> list[LateEvent]:
    """Return the events to look at: the one furthest beyond its period of each task and cause, then the next."""
    ranked = sorted(events, key=lambda e: periods_ns[e.task] - e.excess_ns)
    seen: set[tuple[str, Cause]] = set()
    first: list[LateEvent] = []
    others: list[LateEvent] = []
    for event in ranked:
        kind = (event.task, event.cause)
        (others if kind in seen else first).append(event)
        seen.add(kind)
    return (first + others)[:most]

"""Signals of a run as one packed text that a page unpacks: in full, or smallest and largest value of each stretch.

The text is Base64 of zlib of: four bytes (little endian) with the length of a JSON header, the header, padded with
spaces to a multiple of eight, and for each group its times as float64 (s) and its signals as float32, smallest
values first, then, of an envelope, largest ones. A NaN stands for a value that is missing or too large.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from io_bridge.recording.record import TIME_FIELD

MOST_BYTES = (
    2_800_000  # of all values, before they are packed: a page of at most five million characters
)
LEAST_PIECES, MOST_PIECES = 200, 4000
PART_ROWS = 20_000  # that are read at once

Single = NDArray[np.float32]


@dataclass(frozen=True)
class Traces:
    """Signals of one task, or as much of them as a page holds.

    Attributes
    ----------
    run, task : str
        `run` tells two runs on one page apart.
    t_s : ndarray of float64, shape (n,)
        Of the cycles, or of the first one of each stretch.
    paths : tuple of str
    low, high : ndarray of float32, shape (number of paths, n)
        The same array, where every cycle is there.
    """

    run: str
    task: str
    t_s: NDArray[np.float64]
    paths: tuple[str, ...]
    low: Single
    high: Single

    @property
    def is_envelope(self) -> bool:
        """True: smallest and largest values of stretches."""
        return self.low is not self.high


def traces_of(
    records: Mapping[str, np.ndarray], signals: Mapping[str, str], run: str = "", share: float = 1.0
) -> list[Traces]:
    """Return the signals of a run, thinned until a page holds them.

    Parameters
    ----------
    records : mapping of str to ndarray
        By task.
    signals : mapping of str to str
        Task of each signal that is wanted.
    run : str
    share : float
        Of the page.
    """
    pieces = int(
        np.clip(share * MOST_BYTES / (8 * max(1, len(signals))), LEAST_PIECES, MOST_PIECES)
    )
    found = []
    for task, record in records.items():
        names = record.dtype.names or ()
        paths = tuple(path for path, home in signals.items() if home == task and path in names)
        if paths and len(record):
            found.append(_thinned(run, task, record, paths, pieces))
    return found


def _thinned(
    run: str, task: str, record: np.ndarray, paths: tuple[str, ...], pieces: int
) -> Traces:
    n, names = len(record), record.dtype.names or ()
    columns = [names.index(path) for path in paths]
    is_whole = n <= 2 * pieces
    edges = np.arange(n + 1) if is_whole else np.linspace(0, n, pieces + 1).astype(np.int64)
    low = np.empty((len(paths), len(edges) - 1), np.float32)
    high = low if is_whole else np.empty_like(low)
    # as few rows as may be in memory, and each page of the record is read once
    step = max(1, PART_ROWS * (len(edges) - 1) // n)
    with np.errstate(over="ignore"):
        for first in range(0, len(edges) - 1, step):
            last = min(first + step, len(edges) - 1)
            rows = np.ascontiguousarray(record[edges[first] : edges[last]])
            values = rows.view(np.float64).reshape(len(rows), len(names))[:, columns]
            values[~(np.abs(values) <= np.finfo(np.float32).max)] = np.nan
            begins = edges[first:last] - edges[first]
            low[:, first:last] = np.fmin.reduceat(values, begins, axis=0).T
            if not is_whole:
                high[:, first:last] = np.fmax.reduceat(values, begins, axis=0).T
    return Traces(run, task, np.array(record[TIME_FIELD][edges[:-1]]) * 1e-9, paths, low, high)


def packed(traces: Iterable[Traces], units: Mapping[str, str], shown: Collection[str]) -> str:
    """Return signals as text.

    Parameters
    ----------
    traces : iterable of Traces
    units : mapping of str to str
        By signal; one without is not known.
    shown : collection of str
        Signals that a page begins with.
    """
    groups, arrays = [], []
    for one in traces:
        signals = [
            {"path": path, "unit": units.get(path, ""), "shown": path in shown}
            for path in one.paths
        ]
        facts = {"run": one.run, "task": one.task, "n": len(one.t_s), "envelope": one.is_envelope}
        groups.append(facts | {"signals": signals})
        values = [one.low, one.high] if one.is_envelope else [one.low]
        data = one.t_s.astype("<f8").tobytes() + b"".join(v.astype("<f4").tobytes() for v in values)
        arrays.append(data + b"\0" * (-len(data) % 8))
    header = msgspec.json.encode({"groups": groups})
    header += b" " * (-(4 + len(header)) % 8)
    whole = len(header).to_bytes(4, "little") + header + b"".join(arrays)
    return base64.b64encode(zlib.compress(whole, 6)).decode()

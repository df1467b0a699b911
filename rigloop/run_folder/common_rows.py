"""The cycles that two records of a task have in common, part by part: neither is held in memory as a whole."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from io_bridge.recording.record import TIME_FIELD
from rigloop.run_folder.manifest import ManifestError

PART_BYTES = 8 << 20  # of the rows of one record that are compared at once

Rows = slice | np.ndarray


def common_rows(task: str, old: np.ndarray, new: np.ndarray) -> Iterator[tuple[Rows, Rows]]:
    """Yield the rows of both records that have the same times, a part after the other.

    Raises
    ------
    ManifestError
        The times of a record do not rise.
    """
    size = max(1, PART_BYTES // max(old.dtype.itemsize, new.dtype.itemsize))
    at = [0, 0]
    while at[0] < len(old) and at[1] < len(new):
        times = [
            np.array(record[TIME_FIELD][first : first + size])
            for record, first in zip((old, new), at, strict=True)
        ]
        for record, first, t_ns in zip((old, new), at, times, strict=True):
            _require_rising(task, record, first, t_ns)
        if np.array_equal(times[0], times[1]):
            taken = [len(times[0])] * 2
            yield slice(at[0], at[0] + taken[0]), slice(at[1], at[1] + taken[1])
        else:
            # one of the two parts is used up, and whatever is left of the other one is later
            end = min(t_ns[-1] for t_ns in times)
            taken = [int(np.searchsorted(t_ns, end, side="right")) for t_ns in times]
            one, other = (t_ns[:n] for t_ns, n in zip(times, taken, strict=True))
            both, *rows = np.intersect1d(one, other, assume_unique=True, return_indices=True)
            if len(both):
                yield at[0] + rows[0], at[1] + rows[1]
        at = [first + n for first, n in zip(at, taken, strict=True)]


def _require_rising(task: str, record: np.ndarray, first: int, t_ns: np.ndarray) -> None:
    before = record[TIME_FIELD][first - 1] if first else t_ns[0] - 1
    falls = np.flatnonzero(np.diff(t_ns, prepend=before) <= 0)
    if len(falls):
        row = first + int(falls[0])
        name = getattr(record, "filename", None) or f"the record of {task}"
        raise ManifestError(
            f"{name}: {TIME_FIELD} = {record[TIME_FIELD][row]} at row {row}, not after the row before: "
            "the record is damaged"
        )

"""Envelopes: least, greatest and last value of each bucket of time, whatever the rate of the cycles is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ROWS = 3
"""Least, greatest and last value."""


@dataclass(frozen=True)
class Envelopes:
    """Envelopes of some signals over the same buckets.

    Attributes
    ----------
    first : int
        Number of the first bucket; bucket k lasts from k to k + 1 times `bucket_ns`.
    bucket_ns : int
    values : ndarray, shape (n_signals, ROWS, n_buckets)
        NaN in a bucket without a cycle.
    """

    first: int
    bucket_ns: int
    values: NDArray[np.float64]


def bucket_ns(wanted_ns: int, period_ns: int) -> int:
    """Return the width of a bucket: a multiple of a task's period, so that an empty one is a gap."""
    return max(1, round(wanted_ns / period_ns)) * period_ns


def envelopes(
    t_ns: NDArray[np.int64],
    columns: Mapping[str, NDArray[np.float64]],
    paths: Sequence[str],
    first: int,
    width_ns: int,
    n: int,
) -> Envelopes:
    """Return the envelopes of `n` buckets.

    Parameters
    ----------
    t_ns : ndarray of int64, shape (n_cycles,)
        Ascending.
    columns : mapping of str to ndarray, shape (n_cycles,)
    paths : sequence of str
        The signals, in the order of the result.
    first : int
        Number of the first bucket.
    width_ns : int
    n : int
    """
    values = np.full((len(paths), ROWS, n), np.nan)
    numbers = t_ns // width_ns - first
    inside = slice(*np.searchsorted(numbers, (0, n)))
    numbers = numbers[inside]
    if len(numbers):
        starts = np.flatnonzero(np.diff(numbers, prepend=numbers[0] - 1))
        ends = np.append(starts[1:], len(numbers)) - 1
        at = numbers[starts]
        for row, path in enumerate(paths):
            column = np.asarray(columns[path], np.float64)[inside]
            values[row, 0, at] = np.fmin.reduceat(column, starts)
            values[row, 1, at] = np.fmax.reduceat(column, starts)
            values[row, 2, at] = column[ends]
    return Envelopes(first, width_ns, values)

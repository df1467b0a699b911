"""Faults that real logs carry: found, counted, and reported, with the remedy taken for each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

GAP_RATIO = 1.8  # of the median interval
BUNCH_RATIO = 0.1
NEARLY_A_TURN = 0.05  # of a turn
CONSTANT_SAMPLES = 100  # equal values in a row that are worth a word
MAX_ACCELERATION_RAD_S2 = 1000.0  # more than a hand or a drive gives a steering wheel
MIN_STEP_COUNTS = 8.0


@dataclass(frozen=True)
class LogFault:
    """One kind of fault in one log.

    Attributes
    ----------
    kind : str
        Short name, the same in every log.
    count : int
        How often.
    first_row : int
        Data row of the first one, from 0 after the header.
    words : str
        The fault, and the remedy taken.
    """

    kind: str
    count: int
    first_row: int
    words: str


def at(kind: str, where: NDArray[np.bool_], rows: Rows, words: str) -> list[LogFault]:
    """A fault for the samples where `where` holds; empty if there is none."""
    hits = np.flatnonzero(where)
    return [LogFault(kind, len(hits), int(rows[hits[0]]), words)] if len(hits) else []


def interval_faults(t_s: Array, rows: Rows) -> list[LogFault]:
    """Gaps and bunches in a strictly increasing time.

    Parameters
    ----------
    t_s : ndarray of float64, shape (n,)
        Sample times, n >= 2.
    rows : ndarray of int64, shape (n,)
        Data row of each sample.
    """
    dt_s = np.diff(t_s)
    median_s = float(np.median(dt_s))
    return at(
        "gap",
        dt_s > GAP_RATIO * median_s,
        rows[1:],
        f"intervals above {GAP_RATIO} x the median of {1e3 * median_s:.4g} ms, longest "
        f"{1e3 * dt_s.max():.4g} ms; kept, the filter predicts across them",
    ) + at(
        "bunching",
        dt_s < BUNCH_RATIO * median_s,
        rows[1:],
        f"intervals below {BUNCH_RATIO} x the median, shortest {1e3 * dt_s.min():.3g} ms; "
        "kept, of samples in one tick the newest counts",
    )


def count_faults(
    t_s: Array, count: Array, raw: Array, span: int, rad_per_count: float, rows: Rows
) -> list[LogFault]:
    """Wraps, steps and constant runs of an encoder.

    Parameters
    ----------
    t_s, count, raw : ndarray of float64, shape (n,)
        Sample times, unwrapped counts and counts as logged, n >= 2.
    span : int
        Counts after which the counter repeats; 0: never.
    rad_per_count : float
        Size of a count, > 0.
    rows : ndarray of int64, shape (n,)
        Data row of each sample.
    """
    faults = []
    if span:
        faults += at(
            "encoder wrap",
            np.abs(np.diff(raw)) > span / 2,
            rows[1:],
            f"the counter jumps by about its span of {span}; unwrapped by the shortest difference",
        )
    step = _steps(t_s, count, rad_per_count)
    if step.any():
        first = int(np.flatnonzero(step)[0])
        size = count[first + 1] - count[first]
        turns = size * rad_per_count / (2.0 * np.pi)
        cause = (
            f"a wrap? counter_span = {round(2.0 * np.pi / rad_per_count)} in [angle] of the mapping unwraps it"
            if not span and abs(abs(turns) - 1.0) < NEARLY_A_TURN
            else "an index pulse?"
        )
        faults += at(
            "step",
            step,
            rows[:-1],
            f"the angle jumps between this row and the next by {size:+.0f} counts "
            f"({size * rad_per_count:+.4f} rad), more than any motion explains ({cause}); "
            "kept, the filter takes it as a jump and lets the angle creep",
        )
    return faults + _constant_runs(count, rows)


def _steps(t_s: Array, count: Array, rad_per_count: float) -> NDArray[np.bool_]:
    # a step is larger than the rate on either side and a possible change of it explain
    dt_s, delta = np.diff(t_s), np.diff(count)
    speed = np.abs(delta) / dt_s
    beside = np.maximum(np.r_[0.0, speed[:-1]], np.r_[speed[1:], 0.0])
    slack = MIN_STEP_COUNTS + 4.0 * MAX_ACCELERATION_RAD_S2 * dt_s**2 / rad_per_count
    return np.asarray(np.abs(delta) > beside * dt_s + slack)


def _constant_runs(count: Array, rows: Rows) -> list[LogFault]:
    starts = np.flatnonzero(np.r_[True, np.diff(count) != 0])
    lengths = np.diff(np.r_[starts, len(count)])
    long = starts[lengths >= CONSTANT_SAMPLES]
    if not len(long):
        return []
    longest = int(np.argmax(lengths))
    return [
        LogFault(
            "constant run",
            len(long),
            int(rows[long[0]]),
            f"the same value {CONSTANT_SAMPLES} times in a row or more, longest {lengths[longest]} "
            f"samples from row {rows[starts[longest]]}; kept (a resting wheel looks the same)",
        )
    ]

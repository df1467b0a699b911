"""Put the samples of a log onto the ticks of a task."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from io_bridge.logs.formats.table import LogError
from io_bridge.logs.reader import EncoderLog

MAX_TICKS = 50_000_000


@dataclass(frozen=True)
class Schedule:
    """Inputs of the encoder filter, tick by tick.

    Attributes
    ----------
    position_count : ndarray of float64, shape (n_ticks,)
        Newest count, held between samples.
    valid : ndarray of float64, shape (n_ticks,)
        1 at a tick with a new sample, else 0.
    elapsed : ndarray of float64, shape (n_ticks,)
        1: no tick is skipped.
    sample : ndarray of int64, shape (n_ticks,)
        Index into the log's arrays of the newest sample.
    superseded : int
        Samples that a newer one in the same tick replaced.
    """

    position_count: NDArray[np.float64]
    valid: NDArray[np.float64]
    elapsed: NDArray[np.float64]
    sample: NDArray[np.int64]
    superseded: int


def schedule(log: EncoderLog, period_s: float) -> Schedule:
    """Assign each sample to the nearest tick; of several in one tick the newest counts.

    The nearest tick, not the next one: a log sampled at the rate of the task jitters about its
    ticks, and would leave every second one empty.

    Parameters
    ----------
    log : EncoderLog
        The samples; the first is at tick 0.
    period_s : float
        Period of the task that runs the filter, s.

    Returns
    -------
    Schedule
        From tick 0 to the last sample.

    Raises
    ------
    LogError
        More than 5e7 ticks.
    """
    if not period_s > 0.0:
        raise ValueError(f"period_s = {period_s}: must be positive")
    n_ticks = np.floor(log.duration_s / period_s + 0.5) + 1
    if n_ticks > MAX_TICKS:
        raise LogError(
            f"{log.path}: {log.duration_s:.0f} s are {n_ticks:.3g} ticks of {period_s:g} s, "
            f"at most {MAX_TICKS:g} are replayed"
        )
    tick = np.floor(log.t_s / period_s + 0.5).astype(np.int64)
    newest = np.r_[np.diff(tick) > 0, True]
    at_tick = tick[newest]
    valid = np.zeros(int(n_ticks))
    valid[at_tick] = 1.0
    # index of the newest sample, held from tick to tick
    sample = np.zeros(int(n_ticks), dtype=np.int64)
    sample[at_tick] = np.flatnonzero(newest)
    np.maximum.accumulate(sample, out=sample)
    return Schedule(
        position_count=log.position_count[sample],
        valid=valid,
        elapsed=np.ones(int(n_ticks)),
        sample=sample,
        superseded=int(len(tick) - len(at_tick)),
    )

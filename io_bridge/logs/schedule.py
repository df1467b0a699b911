"""Put the samples of a log onto the ticks of a task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from io_bridge.logs.formats.table import LogError
from io_bridge.logs.parts import LogPart
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


@dataclass(frozen=True)
class TickPart:
    """Inputs of the encoder filter from tick `first` on; the other attributes as `Schedule` has them."""

    first: int
    position_count: NDArray[np.float64]
    valid: NDArray[np.float64]
    torque: dict[str, NDArray[np.float64]]


class Ticks:
    """The samples of a log on the ticks of a task, part by part.

    Parameters
    ----------
    period_s : float
        Period of the task that runs the filter, s.
    most : int
        Ticks that are handed out at once.

    Attributes
    ----------
    superseded : int
        As of `Schedule`.
    """

    def __init__(self, period_s: float, most: int) -> None:
        self.superseded = 0
        self._period_s, self._most = period_s, most
        self._next = 0
        self._last: LogPart | None = None

    def take(self, part: LogPart) -> Iterator[TickPart]:
        """Yield the ticks before that of the newest sample, which another one may yet replace."""
        last, self._last = self._last, part.rows(slice(-1, None))
        yield from self._ticks(part if last is None else _after(last, part), is_end=False)

    def rest(self) -> Iterator[TickPart]:
        """Yield the tick of the last sample."""
        if self._last is not None:
            yield from self._ticks(self._last, is_end=True)

    @property
    def place(self) -> dict[str, Any]:
        """Return the place behind the newest part, as plain data and arrays."""
        last = asdict(self._last) if self._last else None
        return {"superseded": self.superseded, "next": self._next, "last": last}

    def put_back(self, place: Mapping[str, Any]) -> None:
        """Go on from a place."""
        self.superseded, self._next = place["superseded"], place["next"]
        self._last = LogPart(**place["last"]) if place["last"] else None

    def _ticks(self, part: LogPart, *, is_end: bool) -> Iterator[TickPart]:
        tick = np.floor(part.t_s / self._period_s + 0.5).astype(np.int64)
        end = int(tick[-1]) + is_end
        newest = np.flatnonzero(np.r_[np.diff(tick) > 0, is_end])
        self.superseded += len(tick) - len(newest) - (not is_end)
        at = tick[newest]
        for first in range(self._next, end, self._most):
            ticks = np.arange(first, min(first + self._most, end))
            place = np.searchsorted(at, ticks, side="right") - 1
            sample = newest[place]
            yield TickPart(
                first,
                part.position_count[sample],
                (at[place] == ticks).astype(float),
                {name: values[sample] for name, values in part.torque.items()},
            )
        self._next = max(self._next, end)


def _after(one: LogPart, two: LogPart) -> LogPart:
    return LogPart(
        np.r_[one.t_s, two.t_s],
        np.r_[one.position_count, two.position_count],
        {name: np.r_[one.torque[name], values] for name, values in two.torque.items()},
        np.r_[one.row, two.row],
    )


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

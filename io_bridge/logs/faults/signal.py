"""The samples of an encoder by which its faults are found, and its motion beside one of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from io_bridge.logs.faults.finding import Array

SLOPE_OVER = 8  # samples that say how fast the wheel was
DEAD_QUANTA = 3.0  # of each of the steps beside a stretch that begins or ends at full speed


@dataclass(frozen=True)
class Signal:
    """A signal by its good samples.

    `raw` is as logged, `value` unwrapped, `quantum` its smallest step, `grid` that at
    each sample, `span` what its counter repeats after (0: never). At the samples `elsewhere` the count goes on from
    another reference.
    """

    raw: Array
    value: Array
    periods: Array
    quantum: float
    grid: Array
    span: float
    is_count: bool
    elsewhere: tuple[int, ...] = ()


def stops_dead(signal: Signal, at: int, way: int) -> bool:
    # full speed right beside the stretch: the last steps are all large, of one sign and alike
    first = max(0, at - 5 if at >= 1 else 0) if way < 0 else at
    beside = np.diff(signal.value[first : at + (1 if way < 0 else 5)])
    if len(beside) < 4:
        return False
    least = DEAD_QUANTA * float(signal.grid[min(at, len(signal.grid) - 1)])
    one_way = bool(np.all(beside > 0) or np.all(beside < 0))
    return (
        one_way
        and float(np.min(np.abs(beside))) >= least
        and float(np.ptp(beside)) < 0.7 * float(np.max(np.abs(beside)))
    )


def slope(value: Array, at: int, way: int, over: int = SLOPE_OVER) -> float:
    # a sample, before or after an edge
    if way < 0:
        first = max(0, at - 1 - over)
        return float(value[at - 1] - value[first]) / max(1, at - 1 - first) if at > 1 else 0.0
    last = min(len(value) - 1, at + over)
    return float(value[last] - value[at]) / max(1, last - at) if at < len(value) - 1 else 0.0

"""The step from one sample to the next that no motion beside it explains.

A step is compared with the four before and the four after it, by their order and not their mean, and with a cubic
through its neighbours: so a motion of any speed that only changes smoothly exceeds nothing, and a spike cannot hide
itself in a figure that it made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from io_bridge.logs.faults.finding import Array, Mask

BESIDE = 4  # steps on each side
BLOCK = 64  # steps that have their own scale
QUANTILE = 90.0
TIMES_LOCAL, TIMES_GLOBAL, TIMES_QUANTUM = 6.0, 1.5, 3.0
GLOBAL_QUANTILE = 97.0
CHUNK = 4096  # steps that are compared at once: they stay in the cache
NETWORK = (
    (0, 1), (2, 3), (4, 5), (6, 7), (0, 2), (1, 3), (4, 6), (5, 7), (1, 2), (5, 6), (0, 4), (3, 7),
    (1, 5), (2, 6), (1, 4), (3, 6), (2, 4), (3, 5), (3, 4),
)  # fmt: skip
GOES_ON = 2.0  # times what the steps differ on one side, where there is no other: the motion goes on as it changed
CHANGES_SHARE = 0.35  # of the change of speed beside a step, which it may have as well
CURVED = 1.5  # times what is off a smooth curve: the peak of a fast motion is on it
LEAST_LEVELS, MOST_COUNTS, ON_GRID = 20, 1e6, 0.05  # of a scale, by which chance is ruled out
ALIKE = 0.5  # of the smallest steps, if they are those of an encoder


@dataclass(frozen=True)
class Steps:
    """Steps between samples, with what is expected of each.

    Attributes
    ----------
    size : ndarray of float64, shape (n - 1,)
        Of each step.
    expected : ndarray of float64, shape (n - 1,)
        Middle of the steps beside it, over its own time.
    excess : ndarray of float64, shape (n - 1,)
        How far it is outside of them.
    limit : ndarray of float64, shape (n - 1,)
        More than the motion and its noise ever exceed.
    """

    size: Array
    expected: Array
    excess: Array
    limit: Array

    @property
    def impossible(self) -> Mask:
        """Steps that no motion explains."""
        return self.excess > self.limit


def measure_steps(value: Array, periods: Array, grid: Array) -> Steps:
    """Measure the steps of a signal.

    Parameters
    ----------
    value : ndarray of float64, shape (n,)
        Unwrapped.
    periods : ndarray of float64, shape (n - 1,)
        Length of each interval, in typical ones; 1 where the clock only jitters.
    grid : ndarray of float64, shape (n,)
        Smallest step that the signal makes around each sample.
    """
    size = np.diff(value)
    n = len(size)
    if n < 3:
        zeros = np.zeros(n)
        return Steps(size, zeros, zeros, np.full(n, np.inf))
    rate = size / np.maximum(periods, 1.0)
    low, high, middle, spare = _beside(rate)
    _spare_beside_gaps(rate, periods, spare)
    excess = np.maximum(np.maximum(rate - high, low - rate) - spare, 0.0)
    excess = np.fmin(excess, CURVED * _off_cubic(rate))
    local = _local_scale(excess)
    overall = float(np.percentile(excess, GLOBAL_QUANTILE))
    limit = np.maximum(TIMES_LOCAL * local, TIMES_GLOBAL * overall) + TIMES_QUANTUM * np.maximum(
        grid[1:], grid[:-1]
    )
    limit += CHANGES_SHARE * _change_beside(rate)
    # across a gap the motion may change its speed: by what it changes elsewhere, over all of its length
    long = periods > 1.5
    if long.any():
        change = float(np.percentile(np.abs(np.diff(rate)), 99.0)) if n > 3 else 0.0
        spread = np.maximum(high - low, 0.0)
        with np.errstate(over="ignore", invalid="ignore"):
            slack = (spread + 0.5 * change * periods) * periods
            limit = np.where(long, limit * periods + slack, limit)
            excess = np.where(long, excess * periods, excess)
    return Steps(size, middle * np.maximum(periods, 1.0), excess, limit)


def _beside(rate: Array) -> tuple[Array, Array, Array, Array]:
    # of the steps beside each: the second smallest, the second largest, their middle, and what an end of the log spares
    n = len(rate)
    low, high, middle, spare = np.empty(n), np.empty(n), np.empty(n), np.zeros(n)
    for begin in range(BESIDE, n - BESIDE, CHUNK):
        end = min(n - BESIDE, begin + CHUNK)
        ranked = in_order(
            [rate[begin + k : end + k] for k in (*range(-BESIDE, 0), *range(1, BESIDE + 1))]
        )
        low[begin:end], high[begin:end] = ranked[1], ranked[-2]
        middle[begin:end] = 0.5 * (ranked[BESIDE - 1] + ranked[BESIDE])
    for i in (*range(min(BESIDE, n)), *range(max(BESIDE, n - BESIDE), n)):
        beside = np.r_[rate[max(0, i - BESIDE) : i], rate[i + 1 : i + 1 + BESIDE]]
        few = np.sort(beside)
        there = len(few)
        low[i], high[i] = few[min(1, there - 1)], few[max(there - 2, 0)]
        middle[i] = 0.5 * (few[(there - 1) // 2] + few[there // 2])
        spare[i] = GOES_ON * (few[-1] - few[0])
    return low, high, middle, spare


def _spare_beside_gaps(rate: Array, periods: Array, spare: Array) -> None:
    # across a long gap the motion changed: a step beside it is compared with those on its own side
    n = len(rate)
    for gap in np.flatnonzero(periods > BESIDE).tolist():
        left, right = rate[max(0, gap - BESIDE) : gap], rate[gap + 1 : gap + 1 + BESIDE]
        for first, side in ((max(0, gap - BESIDE), left), (gap + 1, right)):
            if len(side) > 1:
                here = slice(first, min(n, first + len(side)))
                spare[here] = np.maximum(spare[here], GOES_ON * float(np.ptp(side)))


def in_order(values: Sequence[Array]) -> list[Array]:
    """Return eight arrays with the values of each place in order, the smallest in the first one.

    A sorting network: whole arrays are compared at once, so that no place is looked at by itself.
    """
    ranked = list(values)
    for one, two in NETWORK:
        least = np.minimum(ranked[one], ranked[two])
        ranked[two] = np.maximum(ranked[one], ranked[two])
        ranked[one] = least
    return ranked


def _off_cubic(rate: Array) -> Array:
    # how far each rate is from the cubic through the two before and the two after it; NaN at the ends
    off = np.full(len(rate), np.nan)
    if len(rate) > 4:
        near, far = rate[1:-3] + rate[3:-1], rate[:-4] + rate[4:]
        off[2:-2] = np.abs(rate[2:-2] - (4.0 * near - far) / 6.0)
    return off


def _change_beside(rate: Array) -> Array:
    # the third largest change from rate to rate among those beside: what a jump or two make is larger
    change = np.r_[np.zeros(BESIDE + 1), np.abs(np.diff(rate)), np.zeros(BESIDE + 1)]
    found = np.empty(len(rate))
    # without the two changes that the step itself makes
    places = [k for k in range(2 * BESIDE + 2) if k not in (BESIDE, BESIDE + 1)]
    for begin in range(0, len(rate), CHUNK):
        end = min(len(rate), begin + CHUNK)
        found[begin:end] = in_order([change[begin + k : end + k] for k in places])[-3]
    return found


def _local_scale(excess: Array) -> Array:
    # a high quantile of each block or its neighbours: a motion that begins is known from the next block
    n = len(excess)
    whole = n // BLOCK * BLOCK
    scale = np.percentile(excess[:whole].reshape(-1, BLOCK), QUANTILE, axis=1)
    if whole < n:
        scale = np.r_[scale, np.percentile(excess[max(0, n - BLOCK) :], QUANTILE)]
    wide = np.maximum(scale, np.maximum(np.r_[scale[1:], scale[-1]], np.r_[scale[0], scale[:-1]]))
    return np.repeat(wide, BLOCK)[:n]


def find_quantum(value: Array) -> float:
    """Return the step that a signal makes when it hardly moves; 0 for one that never changes."""
    step = np.abs(np.diff(value))
    spread = float(np.ptp(value)) if len(value) else 0.0
    grid = find_grid(value) if spread else 0.0
    # what is smaller is rounding; a wild value among them makes no step of counts that
    step = step[step > min(1e-9 * max(spread, 1e-300), 0.5 * grid or np.inf)]
    if not len(step):
        return 0.0
    smallest = float(np.percentile(step, 1.0))
    near = step[step < 1.6 * smallest]
    found = float(np.median(near)) if len(near) else smallest
    if 0.0 < grid < 0.5 * found and np.mean(np.abs(near - found) <= 1.5 * grid) < ALIKE:
        return grid  # it never hardly moves: these are steps of its motion
    return found


def find_grid(value: Array) -> float:
    """Return the grid on which all values lie: counts, decimals as printed, or the scale of counts; 0 for none."""
    for digits in range(9):
        scaled = value * 10.0**digits
        whole = np.rint(scaled)
        if np.all(np.abs(scaled - whole) < 1e-5 + 1e-14 * np.abs(scaled)):
            if np.max(np.abs(whole)) > 2.0**62:
                return 0.0
            common = int(np.gcd.reduce(np.diff(whole).astype(np.int64)))
            return common * 10.0**-digits
    return _scaled_grid(value)


def _scaled_grid(value: Array) -> float:
    # counts times a factor that is no decimal, as formats with a scale have them
    levels = np.unique(value)
    if len(levels) < LEAST_LEVELS or not np.isfinite(levels[-1] - levels[0]):
        return 0.0
    gaps = np.diff(levels)
    spread = float(levels[-1] - levels[0])
    rounding = (
        float(np.max(np.abs(levels))) * 2.0**-23
    )  # of numbers in 32 bits, which show one level as two
    smallest = float(np.min(gaps[gaps > 4.0 * rounding], initial=spread))
    if spread > MOST_COUNTS * smallest:
        return 0.0
    smallest = float(np.mean(gaps[np.abs(gaps - smallest) < 0.5 * smallest]))
    for parts in (1, 2, 3):
        grid = spread / np.rint(spread * parts / smallest)
        counts = (levels - levels[0]) / grid
        if np.all(np.abs(counts - np.rint(counts)) < ON_GRID):
            return float(grid)
    return 0.0

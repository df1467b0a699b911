"""The counts after which a counter repeats, by its jumps from one end to the other, and speeds that no wheel has."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from io_bridge.logs.guess.beside import GRIDS

Array = NDArray[np.float64]

LEAST_SPAN = 64
FASTEST_RAD_S, SPEED_OVER_S = 300.0, 0.02


def guess_span(values: Array, hints: tuple[float, ...] = ()) -> float:
    """Return what a counter repeats after, by its jumps from one end to the other; 0 if it does not.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
        Counts.
    hints : tuple of float
        Spans that the file speaks of.
    """
    step = np.diff(values)
    low, high = float(np.min(values)), float(np.max(values))
    usual = float(np.percentile(np.abs(step), 95.0)) if len(step) else 0.0
    spans = [h for h in hints if h >= LEAST_SPAN]
    spans += [2.0**b for b in range(8, 54)]
    spans += [float(grid) for grid in GRIDS if high < grid <= high + 3.0 * usual + 3.0]
    spans += _spans_of_jumps(step, high)
    for span in spans:
        for bottom in (0.0, -span / 2.0):
            if low < bottom or high >= bottom + span or high - low < 0.5 * span:
                continue
            over = np.flatnonzero(np.abs(step) > 0.5 * span)
            if not len(over):
                continue
            rest = np.abs(step[over] - np.sign(step[over]) * span)
            slack = 3.0 * usual + 3.0 if usual < 0.2 * span else 0.4 * span
            fits = rest <= slack
            named = span in hints or span in GRIDS or np.log2(span) == np.rint(np.log2(span))
            # a single jump to zero is a wrap only from where a counter ends
            at_end = min(bottom + span - 1.0 - high, low - bottom) < 0.02 * span
            least = 1 if named and at_end else 3
            if fits.sum() >= least and np.mean(fits) > (0.25 if named and at_end else 0.6):
                return span
    return 0.0


def _spans_of_jumps(step: Array, high: float) -> list[float]:
    # a jump back by the span less a step of the motion
    jumps = np.flatnonzero(np.abs(step) > 0.5 * high)
    if len(jumps) < 2 or high < LEAST_SPAN:
        return []
    before = step[np.maximum(jumps - 1, 0)]
    exact = np.abs(step[jumps] - np.where(np.abs(before) < 0.2 * high, before, 0.0))
    guess = float(np.median(exact))
    near = [
        guess_
        for tens in (1000.0, 500.0, 100.0, 10.0)
        if abs((guess_ := tens * round(guess / tens)) - guess) < 2e-3 * guess
    ]
    return [span for span in (*near, float(round(guess)), high + 1.0) if span >= high + 1.0]


def too_fast(values: Array, t_s: Array, turn: float, span: float) -> float:
    """Return the speed that a tenth of the moving samples exceed, rad/s, if no wheel is as fast; else 0."""
    dt = np.diff(t_s)
    # over so long that single counts of a fine clock are no speed
    over = max(1, round(SPEED_OVER_S / float(np.median(dt)))) if len(dt) else 1
    if len(values) <= over + 10:
        return 0.0
    step, dt = values[over:] - values[:-over], t_s[over:] - t_s[:-over]
    if span:
        step = step - span * np.floor(step / span + 0.5)
    step = np.abs(step)
    good = np.isfinite(step) & (dt > 0.0)
    speed = step[good] / dt[good] * 2.0 * np.pi / turn
    moving = speed[speed > 0.0]
    high = float(np.percentile(moving, 90.0)) if len(moving) >= 10 else 0.0
    return high if high > FASTEST_RAD_S else 0.0

"""A capture beside a stored one: the difference of each signal that both have, with the triggers on one another."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rigloop.scope.capture import Capture


@dataclass(frozen=True)
class Difference:
    """One signal of two captures.

    Attributes
    ----------
    path : str
    n : int
        Cycles of the first one at which the second has a value.
    largest : float
        Largest absolute difference, in the unit of the signal; NaN without such a cycle.
    at_s : float
        When, from the trigger on.
    rms : float
    """

    path: str
    n: int
    largest: float
    at_s: float
    rms: float


def differences(capture: Capture, stored: Capture) -> list[Difference]:
    """Compare the signals that two captures share, at the cycles of the first; between two of the second's cycles
    its value is on a straight line.
    """
    return [_difference(path, capture, stored) for path in capture.units if path in stored.units]


def _difference(path: str, capture: Capture, stored: Capture) -> Difference:
    t_s, values = capture.trace(path)
    other_s, others = stored.trace(path)
    if not len(other_s) or not len(t_s):
        return Difference(path, 0, math.nan, math.nan, math.nan)
    # both clocks are of cycles: a nanosecond is rounding
    both = (t_s >= other_s[0] - 1e-9) & (t_s <= other_s[-1] + 1e-9)
    apart = values[both] - np.interp(t_s[both], other_s, others)
    good = np.isfinite(apart)
    apart, times = apart[good], t_s[both][good]
    if not len(apart):
        return Difference(path, 0, math.nan, math.nan, math.nan)
    worst = int(np.argmax(np.abs(apart)))
    rms = float(np.sqrt(np.mean(np.square(apart))))
    return Difference(path, len(apart), float(abs(apart[worst])), float(times[worst]), rms)

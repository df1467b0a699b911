"""A counter that stands still, and then is elsewhere at once: no wheel goes so from rest.

A resting wheel says one value for as long as it likes, and then moves off gently. A stuck encoder says one value while
the wheel goes on, and comes back to where the wheel is by then.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LEAST_SAMPLES, LEAST_S = 50, 0.1  # of one value
MIN_STEP_COUNTS = 8.0
MOVES_WITHIN_S = 0.1  # after the jump
REST_COUNTS = 2.0  # of a wheel at rest: its encoder may toggle
UPDATES_PERCENT = (
    5.0  # of the intervals between steps: the encoder's own period is among the shortest
)
UPDATES_AFTER = 5  # that say how fast the wheel is after the jump
JITTER = 2.0  # of the time that a step took


class Standstill(NamedTuple):
    """One value of a counter that ends with a jump: samples `begin` to `end - 1`, where `end` is elsewhere."""

    begin: int
    end: int
    lasted_s: float
    step_rad: float
    moves: bool
    """The wheel was on its way when the counter came back."""


def standstills(
    t_s: Array, raw: Array, span: float, rad_per_count: float, max_acceleration_rad_s2: float
) -> list[Standstill]:
    """Return each stretch of one value that a jump ends.

    Parameters
    ----------
    t_s, raw : ndarray of float64, shape (n,)
        Times of the samples, increasing, and counts as they came.
    span : float
        Counts after which the counter repeats; 0: never.
    rad_per_count : float
        Size of a count, > 0.
    max_acceleration_rad_s2 : float
        More than the wheel ever has.
    """
    step = np.diff(raw)
    if span:
        step -= span * np.floor(step / span + 0.5)
    changes = np.flatnonzero(step != 0.0) + 1  # first sample of each new value
    if not len(changes):
        return []
    count = np.r_[0.0, np.cumsum(step)]
    begins = np.r_[0, changes[:-1]]
    lasted_s = t_s[changes - 1] - t_s[begins]
    # one that is read more often than it looks at its wheel steps by all of its own period
    between = np.diff(t_s[changes])
    between = between[(np.abs(step[changes[1:] - 1]) >= REST_COUNTS) & (between < LEAST_S)]
    update_s = float(np.percentile(between, UPDATES_PERCENT)) if len(between) else 0.0
    found = []
    for k in np.flatnonzero((changes - begins >= LEAST_SAMPLES) & (lasted_s >= LEAST_S)):
        end = int(changes[k])
        step_rad = float(step[end - 1]) * rad_per_count
        took_s = max(float(t_s[end] - t_s[end - 1]), update_s)
        last = int(np.searchsorted(t_s, t_s[end] + UPDATES_AFTER * took_s, side="right"))
        went = np.abs(count[end + 1 : last] - count[end]) / (t_s[end + 1 : last] - t_s[end])
        speed_rad_s = rad_per_count * float(np.max(went, initial=0.0))
        most_rad = (
            MIN_STEP_COUNTS * rad_per_count
            + JITTER * speed_rad_s * took_s
            + 0.5 * max_acceleration_rad_s2 * took_s**2
        )
        if abs(step_rad) <= most_rad:
            continue
        after = count[end : int(np.searchsorted(t_s, t_s[end] + MOVES_WITHIN_S, side="right"))]
        moves = bool(np.any(np.abs(after - count[end]) > REST_COUNTS))
        found.append(Standstill(int(begins[k]), end, float(lasted_s[k]), step_rad, moves))
    return found

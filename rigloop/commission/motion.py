"""Inertia, friction and delay of an axis from one take: the torque that was commanded against the way that it went.

    J (th - th0 - w0 t) = II T(t - d) - b I th - c II s(w)

I and II are the first and second integral over time, s the sign of the rate, smoothed. For each delay d the rest is
linear, and the delay with the least residual is taken. Nothing that the drive says of its torque comes in.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rigloop.commission.stand import Take

Array = NDArray[np.float64]
CORNER_RAD_S = 0.05
RATE_SAMPLES = 5
MOST_DELAY_S = 0.03
COARSE = 31
FINE = 21
LEAST_TURN_RAD = 2e-3


class NoMotionError(ValueError):
    """The axis has not moved enough to be measured."""


@dataclass(frozen=True)
class Motion:
    """An axis as its motion shows it.

    Attributes
    ----------
    inertia_kg_m2 : float
        The apparent one: the true inertia over the true share of the torque that was asked for.
    viscous_nms, coulomb_nm : float
    delay_s : float
        From the cycle that commands to the motion.
    residual : float
        RMS of what is left, of the RMS of the way.
    """

    inertia_kg_m2: float
    viscous_nms: float
    coulomb_nm: float
    delay_s: float
    residual: float


def pulses(torque_nm: float, period_s: float, lengths_s: tuple[float, ...] = (0.14, 0.1)) -> Array:
    """Return pulses after which an axis without friction is at rest where it was: +, -, -, + of each length."""
    parts = [np.zeros(round(0.02 / period_s))]
    for length_s in lengths_s:
        one = np.full(round(length_s / period_s), torque_nm)
        parts += [one, -one, -one, one]
    return np.concatenate([*parts, np.zeros(round(0.05 / period_s))])


def fit_motion(take: Take) -> Motion:
    """Fit the axis of a take.

    Raises
    ------
    NoMotionError
        It has hardly moved.
    """
    t, way, command = evenly(take)
    if len(t) < 100 or np.ptp(way) < LEAST_TURN_RAD:
        raise NoMotionError(f"it moved by {np.degrees(np.ptp(way)):.3f}°")
    step = t[1] - t[0]
    rate = _slope(way, step)
    signs = rate / np.hypot(rate, CORNER_RAD_S)
    known = [np.ones_like(t), t, -np.cumsum(way) * step, -_twice(signs, step)]

    def residual(delay_s: float) -> tuple[float, Array]:
        torque = np.interp(t - delay_s, t, command, left=0.0)
        columns = np.column_stack([*known, _twice(torque, step)])
        scale = np.sqrt(np.mean(columns**2, axis=0))
        solved, *_ = np.linalg.lstsq(columns / scale, way, rcond=None)
        left = way - columns / scale @ solved
        return float(np.sqrt(np.mean(left**2))), solved / scale

    coarse = np.linspace(0.0, MOST_DELAY_S, COARSE)
    best = coarse[np.argmin([residual(d)[0] for d in coarse])]
    width = coarse[1]
    fine = np.linspace(max(0.0, best - width), best + width, FINE)
    best = fine[np.argmin([residual(d)[0] for d in fine])]
    left, (_, _, viscous, coulomb, torque) = residual(float(best))
    if abs(torque) < 1e-9:
        raise NoMotionError("its way has nothing to do with the torque")
    return Motion(
        1.0 / torque, viscous / torque, coulomb / torque, float(best), left / float(np.std(way))
    )


def evenly(take: Take) -> tuple[Array, Array, Array]:
    """Return times, way and command at equal steps: cycles may be missing, and meanwhile the last command acts."""
    t = take.t_s
    if len(t) < 2:
        return t, take.angle_rad, take.command_nm
    step = float(np.median(np.diff(t)))
    even = np.arange(round(t[-1] / step) + 1) * step
    acting = np.searchsorted(t, even + 0.5 * step, side="right") - 1
    return even, np.interp(even, t, take.angle_rad), take.command_nm[acting]


def _twice(values: Array, step: float) -> Array:
    # the value of a cycle acts to the next one, where its effect is seen
    once = np.concatenate([[0.0], np.cumsum(values)[:-1]]) * step
    return np.concatenate([[0.0], np.cumsum(once + 0.5 * step * values)[:-1]]) * step


def _slope(way: Array, step: float) -> Array:
    n = RATE_SAMPLES
    padded = np.pad(way, n, mode="edge")
    return (padded[2 * n :] - padded[: -2 * n]) / (2 * n * step)

"""Inertia, friction and delay of an axis from one take: the torque that was commanded against the way that it went.

    J (th - th0 - w0 t) = II T(t - d) - b I th - c II s(w) + h t^2 / 2

I and II are the first and second integral over time, s the sign of the rate, smoothed, and h a torque that always acts,
as that of a weight. For each delay d and each corner of the sign the rest is linear, and those with the least residual
are taken. Nothing that the drive says of its torque comes in. A coarse encoder is read where its count changes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rigloop.commission.stand import Take

Array = NDArray[np.float64]
CORNERS_RAD_S = (0.05, 0.002, 0.01, 0.1)
"""Rates at which dry friction has most of its value; the first one is the usual."""
RATE_SAMPLES = 5
MOST_DELAY_S = 0.03
COARSE = 31
FINE = 21
LEAST_TURN_RAD = 2e-3
EXPLAINED = 2e-3  # of the way, RMS: nothing else acted
ENOUGH = 0.5  # of what is left without it, for a torque that always acted
STEADY = 0.15  # of the torque of the walk
LEFT = 0.03  # of the way, RMS


class NoMotionError(ValueError):
    """The axis has not moved enough to be measured, or has not moved as a free wheel does."""


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
    steady_nm : float
        A torque that acted all the time, beside the one that was asked for.
    corner_rad_s : float
        Of dry friction.
    """

    inertia_kg_m2: float
    viscous_nms: float
    coulomb_nm: float
    delay_s: float
    residual: float
    steady_nm: float = 0.0
    corner_rad_s: float = CORNERS_RAD_S[0]


def pulses(torque_nm: float, period_s: float, lengths_s: tuple[float, ...] = (0.14, 0.1)) -> Array:
    """Return pulses after which an axis without friction is at rest where it was: +, -, -, + of each length."""
    parts = [np.zeros(round(0.02 / period_s))]
    for length_s in lengths_s:
        one = np.full(round(length_s / period_s), torque_nm)
        parts += [one, -one, -one, one]
    return np.concatenate([*parts, np.zeros(round(0.05 / period_s))])


class Course:
    """The course of a take: its integrals over time, ready for a fit.

    Parameters
    ----------
    take : Take

    Raises
    ------
    NoMotionError
        The axis has hardly moved.
    """

    def __init__(self, take: Take) -> None:
        self.t, stairs, self.command = evenly(take)
        if len(self.t) < 100 or np.ptp(stairs) < LEAST_TURN_RAD:
            raise NoMotionError(f"it moved by {np.degrees(np.ptp(stairs)):.3f}°")
        self.step = float(self.t[1] - self.t[0])
        self.way = unstaired(self.t, stairs)
        self.turned = -np.cumsum(self.way) * self.step
        self._rate = _slope(self.way, self.step)

    def friction(self, corner_rad_s: float) -> Array:
        """Return the second integral of the sign of the rate, negative."""
        return -_twice(self._rate / np.hypot(self._rate, corner_rad_s), self.step)

    def torque(self, delay_s: float) -> Array:
        """Return the second integral of the torque that was asked for."""
        late = np.interp(self.t - delay_s, self.t, self.command, left=0.0)
        return _twice(late, self.step)

    def solved(self, way: Array, *columns: Array) -> tuple[float, Array]:
        """Return the RMS of what is left of a way, and the share of each column in it; begin and rate come first."""
        known = np.column_stack([np.ones_like(self.t), self.t, *columns])
        scale = np.sqrt(np.mean(known**2, axis=0))
        found, *_ = np.linalg.lstsq(known / scale, way, rcond=None)
        left = way - known / scale @ found
        return float(np.sqrt(np.mean(left**2))), found / scale


def fit_motion(take: Take) -> Motion:
    """Fit the axis of a take.

    Raises
    ------
    NoMotionError
        It has hardly moved.
    """
    course = Course(take)
    alone = _fitted(course)
    if alone.residual < EXPLAINED:
        # an axis that turned one way cannot tell its friction from a torque that always acted
        return alone
    beside = _fitted(course, 0.5 * course.t**2)
    return beside if beside.residual < ENOUGH * alone.residual else alone


def _fitted(course: Course, *steady: Array) -> Motion:
    def solved(delay_s: float, friction: Array) -> tuple[float, Array]:
        return course.solved(course.way, course.torque(delay_s), course.turned, friction, *steady)

    def best(delays: Array, friction: Array) -> float:
        return float(delays[np.argmin([solved(float(d), friction)[0] for d in delays])])

    coarse = np.linspace(0.0, MOST_DELAY_S, COARSE)
    width = float(coarse[1])
    delay_s = best(coarse, course.friction(CORNERS_RAD_S[0]))
    corners = [(solved(delay_s, course.friction(corner))[0], corner) for corner in CORNERS_RAD_S]
    corner = min(corners)[1]
    friction = course.friction(corner)
    delay_s = best(np.linspace(max(0.0, delay_s - width), delay_s + width, FINE), friction)
    left, (_, _, torque, viscous, coulomb, *beside) = solved(delay_s, friction)
    if abs(torque) < 1e-9:
        raise NoMotionError("its way has nothing to do with the torque")
    return Motion(
        float(1.0 / torque),
        float(viscous / torque),
        float(coulomb / torque),
        delay_s,
        left / float(np.std(course.way)),
        float(sum(beside) / torque),
        corner,
    )


def free(motion: Motion, walk_nm: float) -> Motion:
    """Return a motion that is one of a free wheel, moved by the torque that was asked for.

    Parameters
    ----------
    walk_nm : float
        The torque of the walk.

    Raises
    ------
    NoMotionError
        Something else moved it, too.
    """
    # a friction that pushes is such a torque, too
    steady_nm = max(abs(motion.steady_nm), -motion.coulomb_nm)
    if steady_nm > STEADY * walk_nm:
        raise NoMotionError(
            f"a torque of {steady_nm:.2g} Nm acted on it all the time, beside the one that was asked for"
        )
    if motion.residual > LEFT:
        raise NoMotionError(
            f"{100.0 * motion.residual:.0f} % of its way are not that of a free wheel under this torque"
        )
    return motion


def share_of(take: Take, motion: Motion) -> float:
    """Return the share of the torque that moved an axis whose motion is known, of that which was asked for.

    Raises
    ------
    NoMotionError
        It has hardly moved.
    """
    course = Course(take)
    dragged = motion.viscous_nms * course.turned + motion.coulomb_nm * course.friction(
        motion.corner_rad_s
    )
    own = course.way - dragged / motion.inertia_kg_m2
    steady = [0.5 * course.t**2] if motion.steady_nm else []
    _, (_, _, torque, *_) = course.solved(own, course.torque(motion.delay_s), *steady)
    return float(torque * motion.inertia_kg_m2)


def evenly(take: Take) -> tuple[Array, Array, Array]:
    """Return times, way and command at equal steps: cycles may be missing, and meanwhile the last command acts."""
    t = take.t_s
    if len(t) < 2:
        return t, take.angle_rad, take.command_nm
    step = float(np.median(np.diff(t)))
    even = np.arange(round(t[-1] / step) + 1) * step
    acting = np.searchsorted(t, even + 0.5 * step, side="right") - 1
    return even, np.interp(even, t, take.angle_rad), take.command_nm[acting]


def unstaired(t: Array, way: Array) -> Array:
    """Return the way of an encoder between the changes of its count, which alone tell where it is."""
    changes = np.flatnonzero(np.diff(way))
    if not len(changes):
        return way
    at = 0.5 * (t[changes] + t[changes + 1])
    return np.interp(t, at, 0.5 * (way[changes] + way[changes + 1]))


def _twice(values: Array, step: float) -> Array:
    # the value of a cycle acts to the next one, where its effect is seen
    once = np.concatenate([[0.0], np.cumsum(values)[:-1]]) * step
    return np.concatenate([[0.0], np.cumsum(once + 0.5 * step * values)[:-1]]) * step


def _slope(way: Array, step: float) -> Array:
    n = RATE_SAMPLES
    padded = np.pad(way, n, mode="edge")
    return (padded[2 * n :] - padded[: -2 * n]) / (2 * n * step)

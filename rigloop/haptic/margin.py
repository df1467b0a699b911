"""The margin of a haptic loop: the gain at which a mode of the sampled loop no longer dies out.

Condition: all eigenvalues of one period of the whole loop (`loop.transition`) lie within the unit circle. It is exact
for the linear loop as it is sampled: two rates, held torque, dead times, filter, the model's own integrator. The two
usual rules are in it: rendered stiffness K needs damping b + B > K (Ts/2 + delay), and rendered inertia, whose torque
comes with the lag of the acceleration, must stay below a multiple of that of the wheel.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from estimators.numerics.bisection import boundary
from rigloop.haptic.loop import HapticLoop, Wheel, impedance, transition

GROWS_1_S = 1e-3  # growth below it is rounding: a wheel let go has a mode that stays where it is
MOST_GAIN = 1e3
LEAST_GAIN = 1e-3
MOST_DELAY_S = 0.1


@dataclass(frozen=True)
class Mode:
    """A mode of the loop: exp(growth t), at a frequency (0: it creeps)."""

    growth_1_s: float
    frequency_hz: float


@dataclass(frozen=True)
class Margin:
    """The margin of a loop.

    Attributes
    ----------
    gain : float
        Factor of the torque at which the loop begins to sing; infinite: none up to 1000; 0: any does.
    frequency_hz : float
        It sings there.
    delay_s : float
        Further dead time that it bears at its gain; infinite: more than 0.1 s.
    fastest : Mode
        The mode that grows most, or dies out most slowly, among those that swing.
    runs_away : bool
        A mode that does not swing grows: the torque pushes on the way that the wheel goes.
    stiffness_nm_rad, damping_nms : float
        That the whole path, late as it is, gives at `frequency_hz`: -Re and -Im / omega of torque over angle.
    """

    gain: float
    frequency_hz: float
    delay_s: float
    fastest: Mode
    runs_away: bool
    stiffness_nm_rad: float
    damping_nms: float


def modes(loop: HapticLoop, wheel: Wheel, gain: float = 1.0, extra_s: float = 0.0) -> list[Mode]:
    """Return the modes of a loop, those that grow most first."""
    values = np.linalg.eigvals(transition(loop, wheel, gain, extra_s))
    values = values[np.abs(values) > 1e-6]
    growth = np.log(np.abs(values)) / loop.slow_s
    frequency = np.abs(np.angle(values)) / (2 * np.pi * loop.slow_s)
    return [Mode(float(growth[i]), float(frequency[i])) for i in np.argsort(-growth)]


def worst(found: list[Mode], *, swings: bool) -> Mode:
    """Return the mode that grows most, of those that swing or of those that creep."""
    some = [m for m in found if (m.frequency_hz > 1e-3) == swings]
    return some[0] if some else Mode(-np.inf, 0.0)


def margin(loop: HapticLoop, wheel: Wheel) -> Margin:
    """Return how far a loop is from singing."""

    def sings(gain: float, extra_s: float = 0.0) -> bool:
        return worst(modes(loop, wheel, gain, extra_s), swings=True).growth_1_s > GROWS_1_S

    now = modes(loop, wheel)
    limit = _first(sings, np.geomspace(LEAST_GAIN, MOST_GAIN, 61).tolist())
    at_limit = worst(modes(loop, wheel, min(limit, MOST_GAIN) or LEAST_GAIN), swings=True)
    hz = at_limit.frequency_hz
    delay = 0.0
    if limit > 1.0:
        steps = np.arange(1, 51) * (MOST_DELAY_S / 50)
        delay = _first(lambda extra: sings(1.0, extra), steps.tolist())
    z = impedance(loop, np.array([hz]))[0] if hz > 0.0 else 0.0
    return Margin(
        limit,
        hz if np.isfinite(limit) else 0.0,
        delay,
        worst(now, swings=True),
        worst(now, swings=False).growth_1_s > GROWS_1_S,
        float(-np.real(z)),
        float(-np.imag(z) / (2 * np.pi * hz)) if hz > 0.0 else 0.0,
    )


def _first(bad: Callable[[float], bool], steps: Sequence[float]) -> float:
    """The smallest value that is bad, refined between two steps; infinite: none; 0: the first one already."""
    if bad(float(steps[0])):
        return 0.0
    for good, step in itertools.pairwise(steps):
        if bad(float(step)):
            return boundary(lambda at: not bad(at), float(good), float(step), 30)
    return float("inf")

"""The rate of the torque, against the rig's rate limit."""

from __future__ import annotations

import numpy as np

from rigloop.commission.step import Bench, Measured, Step

LEVELS = (0.1, 0.9)
LAGS = 2.2  # of a first-order lag, from 10 to 90 %
SLACK_S = 1e-3
LEAST = 0.8  # of the step, to be one


def measure(bench: Bench) -> Measured:
    """Take the time from 10 to 90 % of the torque that the drive reports, at each reversal of the pulses."""
    axis = bench.axis
    take = bench.pulsed
    target = np.sign(take.command_nm) * axis.walk_nm
    turns = np.flatnonzero(np.abs(np.diff(target)) > 1.5 * axis.walk_nm)
    rises = [_rise_s(take.t_s[k:], take.reported_nm[k:], target[k + 1]) for k in turns]
    seen = [rise for rise in rises if rise is not None]
    step_nm = 2.0 * axis.walk_nm
    most = 0.8 * step_nm / axis.rate_nm_s + LAGS * axis.torque_lag_s + 2.0 * axis.period_s + SLACK_S
    if len(seen) < len(rises) or not seen:
        words = "The torque that the drive reports does not reach the one asked for."
        return Measured(None, "ms", most=1e3 * most, words=words)
    rise = float(np.median(seen))
    words = f"A step of {step_nm:.3g} Nm took {1e3 * rise:.2f} ms from 10 to 90 %."
    return Measured(1e3 * rise, "ms", None, 1e3 * most, words)


def _rise_s(t: np.ndarray, reported: np.ndarray, target: float) -> float | None:
    """Return the time of one reversal, from -target to target."""
    share = 0.5 * (1.0 + reported / target)
    low, high = (np.flatnonzero(share > level) for level in LEVELS)
    if not len(low) or not len(high):
        return None
    return float(t[high[0]] - t[low[0]])


STEP = Step(
    place=8,
    name="rate_limit",
    title="Rate of the torque",
    question="Does the drive follow as fast as the rig's rate limit?",
    commands="The same pulses: their reversals.",
    measure=measure,
    good="The drive follows the guard's rate; a ramp out ends when the guard says so.",
    bad="The drive is slower than the guard's rate limit: its torque would end later than the guard says.",
    remedy="Take filters and torque slopes (0x6087) out of the drive, or lower rate_nm_s to the rate of the drive.",
)

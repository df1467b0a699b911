"""The direction of the torque, against that of the encoder."""

from __future__ import annotations

import numpy as np

from io_bridge.slaves.moving_objects import AXIS_STEP
from rigloop.commission.stand import whole
from rigloop.commission.step import Bench, Measured, Step

RISE_S, HOLD_S = 0.15, 0.1
LEAST_DEG = 0.2
RATED_TORQUE = 0x6076
MOST_RATED = 1.2  # of that of the rig: every torque is larger than it means by as much
NOTHING = "Nothing was commanded: every torque would be larger than the rig means."
RATED_REMEDY = (
    "Correct rated_torque_nm of the drive in the rig file, or 0x6076 with the maker's tool."
)


def measure(bench: Bench) -> Measured:
    """Raise the torque slowly to that of the walk, and see which way the wheel goes."""
    axis = bench.axis
    rated_nm = axis.drive_config.rated_torque_nm
    theirs = bench.stand.read(RATED_TORQUE + AXIS_STEP * axis.drive_config.axis)
    theirs_nm, most_nm = 1e-3 * (theirs or 0), MOST_RATED * rated_nm
    if theirs_nm > most_nm:
        words = f"The drive has a rated torque of {theirs_nm:.3g} Nm (0x6076), the rig has {rated_nm:g}."
        return Measured(theirs_nm, "Nm", None, most_nm, words, RATED_REMEDY, NOTHING)
    rise = np.linspace(0.0, axis.walk_nm, round(RISE_S / axis.period_s))
    push = np.concatenate([rise, np.full(round(HOLD_S / axis.period_s), axis.walk_nm)])
    # the same backwards brings it to rest
    take = whole(bench.stand.play(np.concatenate([push, -push[::-1]])))
    # by the clock: a machine may miss cycles
    at_s = (len(push) - 1) * axis.period_s
    degrees = float(np.degrees(np.interp(at_s, take.t_s, take.angle_rad)))
    words = f"{axis.walk_nm:.3g} Nm turned the wheel by {degrees:.2f}°."
    if abs(degrees) < LEAST_DEG:
        remedy = (
            "See that the wheel is free, that the drive is enabled, and that its friction is small."
        )
        return Measured(degrees, "°", LEAST_DEG, None, f"{words} It hardly moved.", remedy)
    return Measured(degrees, "°", LEAST_DEG, None, words)


STEP = Step(
    place=5,
    name="torque_direction",
    title="Direction of the torque",
    question="Does a positive torque turn the wheel to positive angles?",
    commands="The torque of the walk, raised slowly, then the same backwards.",
    measure=measure,
    good="Torque and encoder have the same sense.",
    bad="The torque pushes against the sense of the encoder.",
    remedy="Exchange two phases of the motor as its maker says, or the sense of torque in the drive; "
    "never by request_sign of the guard.",
)

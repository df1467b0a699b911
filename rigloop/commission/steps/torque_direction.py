"""The direction of the torque, against that of the encoder."""

from __future__ import annotations

import numpy as np

from io_bridge.slaves.moving_objects import AXIS_STEP
from io_bridge.slaves.own_scale import OwnScale
from rigloop.commission.stand import whole
from rigloop.commission.step import Bench, Measured, Step
from rigloop.sign_off.twentieth import MOST_RATED, OVER_PEAK, larger_rated

RISE_S, HOLD_S = 0.15, 0.1
LEAST_DEG = 0.2
RATED_TORQUE, MAX_TORQUE = 0x6076, 0x6072
NOTHING = "Nothing was commanded: every torque would be larger than the rig means."
RATED_REMEDY = (
    "Correct rated_torque_nm of the drive in the rig file, or 0x6076 with the maker's tool."
)
TOO_MUCH = "Nothing was commanded: the torque of the walk would be too large a share of the drive's torque."
LIMIT_REMEDY = (
    "Lower limit_nm of the guard, or peak_torque_nm of the drive, to the torque that the drive gives; or "
    "raise 0x6072 with the maker's tool."
)


def measure(bench: Bench) -> Measured:
    """Raise the torque slowly to that of the walk, and see which way the wheel goes."""
    axis = bench.axis
    if refused := _too_large(bench):
        return refused
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


def _too_large(bench: Bench) -> Measured | None:
    """Return what keeps the walk from a torque: by what the drive says of itself, it is larger than a walk may have."""
    axis, by = bench.axis, AXIS_STEP * bench.axis.drive_config.axis
    drive = axis.drive_config
    rated, most = (bench.stand.read(index + by) for index in (RATED_TORQUE, MAX_TORQUE))
    own = OwnScale(1e-3 * rated if rated else None, most or None)
    if words := larger_rated(own, drive.rated_torque_nm):
        limit_nm = MOST_RATED * drive.rated_torque_nm
        return Measured(own.rated_nm, "Nm", None, limit_nm, f"{words}.", RATED_REMEDY, NOTHING)
    most_nm = own.most_nm(drive.rated_torque_nm)
    rig_nm = min(axis.limit_nm, drive.peak_torque_nm)
    if most_nm is not None and rig_nm > OVER_PEAK * most_nm:
        words = f"The drive gives at most {most_nm:.3g} Nm (0x6072), the rig up to {rig_nm:g}."
        return Measured(rig_nm, "Nm", None, OVER_PEAK * most_nm, words, LIMIT_REMEDY, TOO_MUCH)
    return None


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

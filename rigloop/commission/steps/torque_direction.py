"""The direction of the torque, against that of the encoder."""

from __future__ import annotations

import numpy as np

from rigloop.commission.hands import Act
from rigloop.commission.stand import whole
from rigloop.commission.step import Bench, Measured, Step

RISE_S, HOLD_S = 0.15, 0.1
LEAST_DEG = 0.2


def measure(bench: Bench) -> Measured:
    """Raise the torque slowly to that of the walk, and see which way the wheel goes."""
    axis = bench.axis
    bench.hands.do(Act.LET_GO)
    rise = np.linspace(0.0, axis.walk_nm, round(RISE_S / axis.period_s))
    push = np.concatenate([rise, np.full(round(HOLD_S / axis.period_s), axis.walk_nm)])
    # the same backwards brings it to rest
    take = whole(bench.stand.play(np.concatenate([push, -push[::-1]])))
    degrees = float(np.degrees(take.angle_rad[len(push) - 1]))
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

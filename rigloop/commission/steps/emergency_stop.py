"""The emergency stop: the end of the torque when it is pressed."""

from __future__ import annotations

import numpy as np

from rigloop.commission.hands import Act
from rigloop.commission.step import Bench, Measured, Step

SHARE = 0.5
HALF_PERIOD_S = 0.08
MOST_S = 0.05
LEFT = 0.1  # of the torque of the walk, that counts as ended


def measure(bench: Bench) -> Measured:
    """Play a torque to and fro, have the stop pressed, and see the drive leave its operation and the torque end."""
    axis, stand = bench.axis, bench.stand
    half = np.full(round(HALF_PERIOD_S / axis.period_s), SHARE * axis.walk_nm)
    one = np.concatenate([half[: len(half) // 2], -half, half[len(half) // 2 :]])
    n = max(1, round(stand.patience_s / (len(one) * axis.period_s)))
    take = stand.play(np.tile(one, n), during=lambda: bench.hands.do(Act.PRESS_STOP))
    off = np.flatnonzero(take.operational < 0.5)
    if not len(off):
        stand.reset()
        words = f"In {take.t_s[-1]:.1f} s the drive did not leave its operation."
        return Measured(None, "ms", most=1e3 * MOST_S, words=words)
    pushes = np.flatnonzero(np.abs(take.reported_nm) > LEFT * axis.walk_nm)
    after_s = max(0.0, float(take.t_s[pushes[-1]] - take.t_s[off[0]])) if len(pushes) else 0.0
    bench.hands.do(Act.RELEASE_STOP)
    stand.reset()
    words = f"The torque had ended {1e3 * after_s:.1f} ms after the drive left its operation."
    return Measured(1e3 * after_s, "ms", None, 1e3 * MOST_S, words)


STEP = Step(
    place=11,
    name="emergency_stop",
    title="Emergency stop",
    question="Does the emergency stop end the torque?",
    commands="Half the torque of the walk, to and fro, until the stop is pressed.",
    measure=measure,
    good="The emergency stop takes the torque away.",
    bad="The emergency stop did not take the torque away.",
    remedy="Wire the stop to the drive's safe torque off (STO), both channels, and try again. Do not go on without it.",
    needs_hand=True,
)

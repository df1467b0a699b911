"""The delay from a command to the motion, against the one that the rig declares."""

from __future__ import annotations

from rigloop.commission.motion import fit_motion
from rigloop.commission.stand import whole
from rigloop.commission.step import Bench, Measured, Step

LEAST_SLACK_S = 1e-3
AGAIN = 2


def measure(bench: Bench) -> Measured:
    """Take the delay with which the motion follows the torque, and compare it with what the rig declares.

    A machine that is late for a while makes it longer, and nothing makes it shorter: the least of some takes counts.
    """
    axis = bench.axis
    delay_s = bench.motion.delay_s
    # a command leaves with the frame of the next cycle
    declared = axis.period_s + axis.torque_delay_s + axis.torque_lag_s
    most = declared + max(LEAST_SLACK_S, axis.period_s)
    for _ in range(AGAIN):
        if delay_s > most:
            again = fit_motion(whole(bench.stand.play(bench.pulses(1.0))))
            delay_s = min(delay_s, again.delay_s)
    words = (
        f"The motion follows the command after {1e3 * delay_s:.2f} ms; by period, torque_delay_ms and "
        f"plant.torque_lag_s it would be {1e3 * declared:.2f} ms."
    )
    return Measured(1e3 * delay_s, "ms", None, 1e3 * most, words)


STEP = Step(
    place=9,
    name="exchange_delay",
    title="Delay",
    question="How long does it take from a command to the motion?",
    commands="The same pulses; up to twice again, where the delay is long.",
    measure=measure,
    good="The delay is the one that the rig declares, and its margins are computed with.",
    bad="The delay is longer than the rig declares: its margins are computed with too short a one.",
    remedy="Set the drive's cyclic synchronous mode without interpolation, or declare torque_delay_ms of the drive. "
    "A machine that is late has a delay of its own: see `rigloop doctor`.",
)

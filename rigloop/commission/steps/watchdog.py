"""The drive's watchdog: the end of its torque when its master dies."""

from __future__ import annotations

import numpy as np

from rigloop.commission.coast import is_driven
from rigloop.commission.stand import StandError
from rigloop.commission.step import Bench, Measured, Step

PLAYED_S = 0.12
SHARE = 0.6
SLACK_S = 0.03
TIMES = ("first", "second")  # a watchdog that has run out once may not do so again


def measure(bench: Bench) -> Measured:
    """Kill the cycle while a torque acts, and read the drive's torque past it until it has ended; then once more."""
    axis = bench.axis
    stated = 1e-3 * axis.drive_config.watchdog_ms
    motion = bench.motion  # before the kill: its pulses want a drive that works
    torque = np.full(round(PLAYED_S / axis.period_s), SHARE * axis.walk_nm)
    most = 1.2 * stated + SLACK_S
    longest = 0.0
    for time in TIMES:
        ending = bench.stand.kill(torque)
        if ending.after_s is None:
            words = f"{1e3 * ending.watched_s:.0f} ms after the last frame the torque still acted, at the {time} kill."
            return Measured(None, "ms", most=1e3 * most, words=words)
        if ending.after_s > most >= ending.after_s - ending.unseen_s:
            unseen = f"the drive was not observed for {1e3 * ending.unseen_s:.0f} ms, in which its torque ended"
            raise StandError(f"this machine was late: {unseen}")
        coast = ending.coast_s, ending.coast_rad
        if is_driven(*coast, torque[-1], motion, axis.rad_per_count):
            words = (
                f"{1e3 * ending.after_s:.0f} ms after the last frame the drive said that it had no torque, and the "
                f"wheel was driven on, at the {time} kill."
            )
            return Measured(None, "ms", most=1e3 * most, words=words)
        longest = max(longest, ending.after_s)
        if longest > most:
            break
    words = (
        f"The torque ended {1e3 * longest:.0f} ms after the last frame, the longest of {len(TIMES)}; the rig has "
        f"{1e3 * stated:g} ms."
    )
    return Measured(1e3 * longest, "ms", None, 1e3 * most, words)


STEP = Step(
    place=10,
    name="watchdog",
    title="Watchdog of the drive",
    question="Does the drive end its torque when its master dies?",
    commands="A steady torque; then the process of the cycle is killed. This twice.",
    measure=measure,
    good="The drive ends its torque by itself.",
    bad="The drive keeps its torque when its master dies.",
    remedy="Switch on the process data watchdog of the drive, and its reaction to a lost bus (torque off), "
    "with the maker's tool; see watchdog_ms in the rig file.",
)

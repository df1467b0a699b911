"""The emergency stop: the end of the torque when it is pressed."""

from __future__ import annotations

import numpy as np

from io_bridge.slaves import words
from rigloop.commission.axis import Axis
from rigloop.commission.coast import LOOKED_S, is_driven
from rigloop.commission.hands import Act
from rigloop.commission.motion import Motion
from rigloop.commission.stand import Take
from rigloop.commission.step import Bench, Measured, Step
from rt_core.safety.trips import State, name_of_trip

SHARE = 0.5
HALF_PERIOD_S = 0.08
MOST_S = 0.05
FAULT = 0x0008  # of the statusword
OTHER_FAULTS = {0x2, 0x3, 0x4, 0x7, 0x8}
"""First digit of error codes (CiA 402): current, voltage, temperature, a module or sensor, supervision and bus."""
UNSEEN = "This was no stop, and nothing is known of the stop yet."
AGAIN = (
    "See to that first; then try again, and press the stop while the wheel is pushed to and fro."
)
LEFT = 0.1  # of the torque of the walk, that counts as ended
SILENT = (
    0.5  # of the drive's watchdog: after such a silence it may have left its operation by itself
)


def measure(bench: Bench) -> Measured:
    """Play a torque to and fro, have the stop pressed, and see the drive leave its operation and the torque end."""
    axis, stand = bench.axis, bench.stand
    motion = bench.motion  # before the stop: its pulses want a drive that works
    half = np.full(round(HALF_PERIOD_S / axis.period_s), SHARE * axis.walk_nm)
    one = np.concatenate([half[: len(half) // 2], -half, half[len(half) // 2 :]])
    n = max(1, round(stand.patience_s / (len(one) * axis.period_s)))
    take = stand.play(np.tile(one, n), during=lambda: bench.ask(Act.PRESS_STOP))
    off = np.flatnonzero(take.operational < 0.5)
    most = 1e3 * MOST_S
    if not len(off):
        stand.reset()
        said = f"In {take.t_s[-1]:.1f} s the drive did not leave its operation."
        return Measured(None, "ms", most=most, words=said)
    at, left_nm = int(off[0]), LEFT * axis.walk_nm
    silent_s = SILENT * 1e-3 * axis.drive_config.watchdog_ms
    after_s, seen_s = ended(take, at, left_nm)
    driven = goes_on(take, at, axis, motion)
    wrong = no_stop(take, at, left_nm, silent_s) or fault_words(bench, take)
    if not wrong and after_s <= MOST_S < seen_s:
        wrong = f"After {1e3 * after_s:.1f} ms with torque no frame came that shows its end in time"
    bench.ask(Act.RELEASE_STOP)
    stand.reset()
    if wrong:
        when = f"{take.t_s[at]:.3f} s into the take, cycle {at} of {len(take.t_s)}"
        return Measured(None, "ms", None, most, f"{wrong} ({when}).", AGAIN, UNSEEN)
    if driven:
        said = "The drive left its operation and said that it had no torque, and the wheel was driven on."
        return Measured(None, "ms", None, most, said)
    said = f"The torque had ended {1e3 * after_s:.1f} ms after the drive left its operation."
    return Measured(1e3 * after_s, "ms", None, most, said)


def goes_on(take: Take, off: int, axis: Axis, motion: Motion) -> bool:
    """Decide if the wheel is driven on after the time that a stop may take, whatever the drive says of its torque."""
    since_s = take.t_s - take.t_s[off]
    rows = (take.valid > 0.5) & (since_s > MOST_S) & (since_s <= MOST_S + LOOKED_S)
    torque_nm, by = SHARE * axis.walk_nm, axis.rad_per_count
    return is_driven(since_s[rows], take.angle_rad[rows], torque_nm, motion, by)


def ended(take: Take, off: int, least_nm: float) -> tuple[float, float]:
    """Return how long after a cycle the drive was last seen with torque, and first seen without.

    A cycle without a valid frame repeats older values, and shows nothing.
    """
    valid = take.valid > 0.5
    pushes = np.flatnonzero(valid & (np.abs(take.reported_nm) > least_nm))
    if not len(pushes) or pushes[-1] < off:
        return 0.0, 0.0
    after = np.flatnonzero(valid[pushes[-1] + 1 :])
    last = float(take.t_s[pushes[-1]] - take.t_s[off])
    if not len(after):
        return last, np.inf
    return last, float(take.t_s[pushes[-1] + 1 + after[0]] - take.t_s[off])


def no_stop(take: Take, off: int, least_nm: float, silent_s: float) -> str:
    """Return why the drive's leave in a cycle is not that of a stop; empty: it is one.

    The drive must say itself that it left, and after a shorter silence than `silent_s`: lost frames that were bridged
    decide nothing.
    """
    before = slice(0, off)
    if not np.any(np.abs(take.reported_nm[before]) > least_nm):
        return "No torque acted before the drive left its operation"
    heard = np.flatnonzero(take.valid[before] > 0.5)
    silence_s = float(take.t_s[off] - (take.t_s[heard[-1]] if len(heard) else take.t_s[0]))
    if take.valid[off] < 0.5 or not len(heard) or silence_s > silent_s:
        return (
            "The drive was lost from the bus as it left its operation: "
            f"it was silent for {1e3 * silence_s:.1f} ms"
        )
    if not np.isin(take.state[before], (State.RUNNING, State.HOLD)).all():
        return f"The guard had ended the torque before ({name_of_trip(take.trip)})"
    return ""


def fault_words(bench: Bench, take: Take) -> str:
    """Return the fault of the drive, if it is none that a stop leaves; empty: none."""
    if not np.any(take.statusword.astype(int) & FAULT):
        return ""
    code = bench.stand.fault_code()
    if code is None or code >> 12 in OTHER_FAULTS:
        said = "which it does not name" if code is None else words.drive_error(code)
        return f"The drive left its operation with a fault of its own, {said}"
    return ""


STEP = Step(
    place=11,
    name="emergency_stop",
    title="Emergency stop",
    question="Does the emergency stop end the torque?",
    commands="Half the torque of the walk, to and fro, until the stop is pressed.",
    measure=measure,
    good="The emergency stop takes the torque away.",
    bad="The emergency stop did not take the torque away.",
    remedy="Wire the stop to the drive's safe torque off (STO), both channels, and try again. "
    "Do not continue without it.",
)

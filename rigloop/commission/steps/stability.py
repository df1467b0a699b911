"""The margin of stability at rising stiffness."""

from __future__ import annotations

import numpy as np

from rigloop.commission.axis import Spring
from rigloop.commission.motion import LEAST_TURN_RAD, NoMotionError, evenly
from rigloop.commission.stand import Array, StandError, Take, whole
from rigloop.commission.step import Bench, Measured, Step
from rt_core.safety.trips import State

GAINS = (0.25, 0.5, 1.0, 1.5, 2.0)
ENOUGH = 2.0
KICKS = 2  # at most, at each gain
KICK_S, WATCHED_S = 0.03, 0.9
SHARE = 0.8
SETTLED = 0.05  # of the fastest rate, that counts as rest
WHOLE = 0.98  # of the torque of the walk, that is cut off
MOVES = 0.05  # of the fastest rate
LEAST_SAMPLES = 20
GROWS = 0.9  # of the rate in the second part over that in the first


def measure(bench: Bench) -> Measured:
    """Kick the wheel against a spring as stiff as the rig's model, at rising gain, and see the motion die out."""
    axis = bench.axis
    if axis.spring is None:
        remedy = "Give --stiffness: the Nm/rad that the rig renders at the wheel."
        words = "No model of the rig tells which stiffness it renders."
        return Measured(None, "", words=words, remedy=remedy)
    if axis.spring.stiffness_nm_rad == 0.0:
        return Measured(ENOUGH, "times", ENOUGH, None, "The rig renders no stiffness.")
    calm = 0.0
    kick = np.zeros(round((KICK_S + WATCHED_S) / axis.period_s))
    kick[: round(KICK_S / axis.period_s)] = SHARE * axis.walk_nm
    for gain in GAINS:
        spring = Spring(gain * axis.spring.stiffness_nm_rad, gain * axis.spring.damping_nms)
        # a machine that is late for a while takes damping away: a wheel that sings does so each time
        if not any(is_calm(bench, kick, spring) for _ in range(KICKS)):
            break
        calm = gain
    stiffness = axis.spring.stiffness_nm_rad
    words = f"The wheel came to rest up to {calm:g} times the rig's {stiffness:.3g} Nm/rad" + (
        "." if calm >= ENOUGH else ", and sang beyond."
    )
    return Measured(calm, "times", ENOUGH, None, words)


def is_calm(bench: Bench, kick: Array, spring: Spring) -> bool:
    """Decide if the wheel comes to rest after a kick, and would also do so without dry friction."""
    motion = bench.motion
    take = moved(bench.stand.play(kick, spring))
    if take.trip or sings(take, spring.stiffness_nm_rad / motion.inertia_kg_m2):
        return False
    damping = damping_nms(whole(take), motion.delay_s, bench.axis.walk_nm)
    return damping + motion.viscous_nms >= 0.0


def moved(take: Take) -> Take:
    """Return a take in which the guard ran, and the wheel moved: one that is held is calm, whatever it would do.

    Raises
    ------
    StandError
        The guard never ran.
    NoMotionError
        The wheel hardly moved.
    """
    if len(take.t_s) < LEAST_SAMPLES or not np.any(take.state == State.RUNNING):
        raise StandError("the guard never let the kick through")
    way = float(np.ptp(take.angle_rad))
    if way < LEAST_TURN_RAD:
        raise NoMotionError(f"under a kick it moved by {np.degrees(way):.3f}°")
    return take


def damping_nms(take: Take, delay_s: float, most_nm: float) -> float:
    """Return the damping of a rendered spring, as late as it is; dry friction, which hides a wheel that would sing with
    more torque, has no part in it.

    Parameters
    ----------
    delay_s : float
        From a command to the motion.
    most_nm : float
        The torque at which the command is cut off.

    Raises
    ------
    NoMotionError
        The wheel hardly moved, or the torque was cut off all the time.
    """
    t, way, command = evenly(take)
    step = t[1] - t[0]
    rate = np.gradient(way, step)
    torque = np.interp(t - delay_s, t, command)
    cut = np.abs(torque) > WHOLE * most_nm
    used = (t > KICK_S + 2.0 * delay_s) & ~cut & (np.abs(rate) > MOVES * np.max(np.abs(rate)))
    if np.count_nonzero(used) < LEAST_SAMPLES:
        raise NoMotionError("it moved too shortly, or with its torque cut off, to show a damping")
    columns = np.column_stack([way[used], rate[used]])
    return -float(np.linalg.lstsq(columns, torque[used], rcond=None)[0][1])


def sings(take: Take, stiffness_1_s2: float) -> bool:
    """Decide if a motion goes on: its energy, as a rate, does not die out.

    Parameters
    ----------
    stiffness_1_s2 : float
        Of the spring, over the inertia.
    """
    t, way, _ = evenly(take)
    step = t[1] - t[0]
    n = max(1, round(0.002 / step))
    rate = (way[n:] - way[:-n]) / (n * step)
    rate = np.hypot(rate, np.sqrt(stiffness_1_s2) * way[n // 2 : n // 2 + len(rate)])
    free = rate[round(2 * KICK_S / step) :]
    first, _, last = np.array_split(free, 3)
    fastest = float(np.max(rate))
    late, early = (float(np.sqrt(np.mean(part**2))) for part in (last, first))
    return late > SETTLED * fastest and late > GROWS * early


STEP = Step(
    place=12,
    name="stability",
    title="Stability margin",
    question="Does the wheel stay calm at twice the stiffness of the rig?",
    commands="A kick against a spring, from a quarter to twice the stiffness of the rig.",
    measure=measure,
    good="The wheel stays calm with a margin of two.",
    bad="The wheel sings at less than twice the stiffness of the rig.",
    remedy="Lower request_gain of the guard, shorten the periods, or soften the model; `rigloop check` computes "
    "how far.",
)

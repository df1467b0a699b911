"""The margin of stability at rising stiffness."""

from __future__ import annotations

import numpy as np

from rigloop.commission.axis import Axis, Spring
from rigloop.commission.motion import LEAST_TURN_RAD, Motion, NoMotionError, evenly, unstaired
from rigloop.commission.stand import StandError, Take, whole
from rigloop.commission.step import Bench, Measured, Step
from rt_core.safety.trips import State

GAINS = (0.25, 0.5, 1.0, 1.5, 2.0)
ENOUGH = 2.0
KICKS = 2  # at most, at each gain
KICK_S, WATCHED_S = 0.03, 0.9
"""A kick of this length at least, and the look at the wheel after it."""
LEAST_WAY_RAD, LEAST_COUNTS = 4e-3, 16  # that a kick is to give
FEWEST_COUNTS = 6
SHARE = 0.9
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
    for gain in GAINS:
        spring = Spring(gain * axis.spring.stiffness_nm_rad, gain * axis.spring.damping_nms)
        # a machine that is late for a while takes damping away: a wheel that sings does so each time
        if not any(is_calm(bench, spring) for _ in range(KICKS)):
            break
        calm = gain
    stiffness = axis.spring.stiffness_nm_rad
    words = f"The wheel came to rest up to {calm:g} times the rig's {stiffness:.3g} Nm/rad" + (
        "." if calm >= ENOUGH else ", and sang beyond."
    )
    return Measured(calm, "times", ENOUGH, None, words)


def is_calm(bench: Bench, spring: Spring) -> bool:
    """Decide if the wheel comes to rest after a kick, and would also do so without dry friction."""
    motion, axis = bench.motion, bench.axis
    long_s = kick_s(motion, axis, spring)
    kick = np.zeros(round((long_s + WATCHED_S) / axis.period_s))
    kick[: round(long_s / axis.period_s)] = SHARE * axis.walk_nm
    take = moved(bench.stand.play(kick, spring), FEWEST_COUNTS * axis.rad_per_count)
    if take.trip or sings(take, spring.stiffness_nm_rad / motion.inertia_kg_m2, long_s):
        return False
    damping = damping_nms(whole(take), motion.delay_s, axis.walk_nm, long_s)
    return damping + motion.viscous_nms >= 0.0


def kick_s(motion: Motion, axis: Axis, spring: Spring) -> float:
    """Return the length of a kick: enough of a way for the eyes of the encoder, and no longer than the spring lets the
    wheel go."""
    free_nm = SHARE * axis.walk_nm - motion.coulomb_nm
    if free_nm <= 0.0:
        return KICK_S
    way = max(LEAST_WAY_RAD, LEAST_COUNTS * axis.rad_per_count)
    inertia = abs(motion.inertia_kg_m2)
    quarter_s = 0.5 * np.pi * np.sqrt(inertia / spring.stiffness_nm_rad)
    return float(max(KICK_S, min(np.sqrt(way * inertia / free_nm), quarter_s)))


def moved(take: Take, least_rad: float = 0.0) -> Take:
    """Return a take in which the guard ran, and the wheel moved: one that is held is calm, whatever it would do.

    Parameters
    ----------
    least_rad : float
        Less than this its encoder does not see well enough.

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
    if way < max(LEAST_TURN_RAD, least_rad):
        raise NoMotionError(f"under a kick it moved by {np.degrees(way):.3f}°")
    return take


def damping_nms(take: Take, delay_s: float, most_nm: float, long_s: float = KICK_S) -> float:
    """Return the damping of a rendered spring, as late as it is; dry friction, which hides a wheel that would sing with
    more torque, has no part in it.

    Parameters
    ----------
    delay_s : float
        From a command to the motion.
    most_nm : float
        The torque at which the command is cut off.
    long_s : float
        The length of the kick.

    Raises
    ------
    NoMotionError
        The wheel hardly moved, or the torque was cut off all the time.
    """
    t, way, command = evenly(take)
    step = t[1] - t[0]
    rate = np.gradient(unstaired(t, way), step)
    torque = np.interp(t - delay_s, t, command)
    cut = np.abs(torque) > WHOLE * most_nm
    used = (t > long_s + 2.0 * delay_s) & ~cut & (np.abs(rate) > MOVES * np.max(np.abs(rate)))
    if np.count_nonzero(used) < LEAST_SAMPLES:
        raise NoMotionError("it moved too shortly, or with its torque cut off, to show a damping")
    columns = np.column_stack([way[used], rate[used]])
    return -float(np.linalg.lstsq(columns, torque[used], rcond=None)[0][1])


def sings(take: Take, stiffness_1_s2: float, long_s: float) -> bool:
    """Decide if a motion goes on: its energy, as a rate, does not die out.

    Parameters
    ----------
    stiffness_1_s2 : float
        Of the spring, over the inertia.
    long_s : float
        The length of the kick.
    """
    t, stairs, _ = evenly(take)
    way = unstaired(t, stairs)
    step = t[1] - t[0]
    n = max(1, round(0.002 / step))
    turns = (way[n:] - way[:-n]) / (n * step)
    rate = np.hypot(turns, np.sqrt(stiffness_1_s2) * way[n // 2 : n // 2 + len(turns)])
    free = rate[round(2 * long_s / step) :]
    first, _, last = np.array_split(free, 3)
    fastest = float(np.max(rate))
    # one that dry friction holds aside of its rest is calm
    if float(np.max(np.abs(turns[-len(last) :]))) < SETTLED * fastest:
        return False
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

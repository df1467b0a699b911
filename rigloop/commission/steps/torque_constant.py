"""The torque at the shaft, weighed against an inertia."""

from __future__ import annotations

from rigloop.commission.step import Bench, Measured, Step

SHARE = 0.15


def measure(bench: Bench) -> Measured:
    """Weigh the torque against the inertia that the rig states, by the motion under pulses."""
    stated = bench.axis.inertia_kg_m2
    if stated is None:
        return Measured(None, "", words="The rig states no inertia to weigh the torque against.")
    found = bench.motion
    factor = stated / found.inertia_kg_m2
    words = (
        f"The wheel moved as if it had {found.inertia_kg_m2:.4g} kg m², the rig states {stated:g}: "
        f"the torque is {factor:.2f} times the one asked for, if that inertia is right."
    )
    return Measured(factor, "", 1 - SHARE, 1 + SHARE, words)


STEP = Step(
    place=7,
    name="torque_constant",
    title="Torque constant",
    question="Is the torque at the shaft the torque that was asked for?",
    commands="Pulses with the torque of the walk.",
    measure=measure,
    good="Torque and inertia agree with the rig.",
    bad="Torque and inertia do not agree: the torque constant is wrong, or the inertia that the rig states.",
    remedy="Compare rated_torque_nm with object 0x6076 and the motor's plate; weigh or compute plant.inertia_kg_m2, "
    "with everything that turns.",
)

"""Work and energy of a stepped motion: an independent check of accelerations and reactions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np


def work_error(stepper: Any, twin: ModuleType, motion: Sequence[Sequence[float]]) -> float:
    """Change of kinetic energy minus the work of applied forces and guides, relative to the energy moved.

    The motion and the guide reactions come from `stepper`; masses and forces are the twin's
    functions. Power is summed up by the trapezoidal rule, so that the error is of the second order
    in the step.

    Parameters
    ----------
    motion : sequence of sequence of float
        Guide inputs, of the start and of every step.
    """
    par = np.array([value for _, value in twin.PARAMETERS])
    signal = np.array(twin.SIGNALS_0)
    mass = twin.mass(par)
    stepper.reset(*motion[0])
    of_joints = getattr(
        twin, "kinetic_energy", None
    )  # the mass matrix is not that of the coordinates

    def kinetic(at: dict[str, np.ndarray]) -> float:
        if of_joints is not None:
            return float(of_joints(at["q"], at["qd"], par))
        return 0.5 * float(at["qd"] @ mass @ at["qd"])

    before = _state(stepper)
    first = kinetic(before)
    work = moved = 0.0
    largest = first
    for begin, end in pairwise(motion):
        stepper.step(*end)
        after = _state(stepper)
        held = twin.hold(before["q"], before["qd"], before["internal"], par, signal)[1]
        power, step_s = 0.0, twin.model_info()["step_s"]
        for at, guide, since_s in ((before, begin, 0.0), (after, end, step_s)):
            held[-1] = since_s
            applied = twin.force(at["q"], at["qd"], held, par, signal)
            power += 0.5 * float(applied @ at["qd"] + at["reaction"] @ np.array(guide[1::3]))
        work += step_s * power
        moved += step_s * abs(power)
        before = after
        largest = max(largest, kinetic(before))
    # nothing moves: round-off of a motion at a thousandth of a unit a second
    floor = 0.5e-6 * float(np.trace(mass))
    return abs(kinetic(before) - first - work) / max(largest + moved, floor)


def _state(stepper: Any) -> dict[str, np.ndarray]:
    return {key: np.array(getattr(stepper, key)) for key in ("q", "qd", "internal", "reaction")}

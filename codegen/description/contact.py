"""Stops that a step is too long for: a mass that meets one leaves it within a few steps, and gains energy.

Where stiffness jumps by k, a mass m is in contact for pi sqrt(m/k). A step that begins outside and ends
inside takes one force for both. Measured on a mass that bounces (docs/models/options.md): with 3 steps a contact
the energy of the fastest of some bounces rises by half, with 10 by 2.5 %, with 16 by less than 1 %.
"""

from __future__ import annotations

import math

import numpy as np

from codegen.description.mechanism import Mechanism
from codegen.description.written_stops import stiffness_jump
from codegen.options.options import KernelOptions
from codegen.pose.built import built_pose

STEPS = 16  # of a contact


def contacts_s(mechanism: Mechanism) -> dict[str, float]:
    """Return the duration of the shortest contact of each stop, by its key in the file, at the mobility of the pose
    of the file. Coordinates that guides hold meet nothing.
    """
    system = mechanism.system
    by_name = {c.name: c for c in system.coordinates}
    kinks = [
        *system.kinks,
        *(
            (key, name, stiffness_jump(system, by_name[name], force))
            for key, name, force in system.written_forces
        ),
    ]
    if not any(jump > 0.0 for _, _, jump in kinks):
        return {}
    jac, mass = built_pose(system)
    _, sizes, right = np.linalg.svd(jac)
    rank = int(np.sum(sizes > 1e-9 * max(1.0, sizes.max(initial=0.0))))
    free = right[rank:].T
    mobility = np.diag(free @ np.linalg.pinv(free.T @ mass @ free) @ free.T) if free.size else None
    found = {}
    for key, name, jump in kinks:
        moves = 0.0 if mobility is None else float(mobility[by_name[name].index])
        if jump > 0.0 and moves > 1e-12:
            found[key] = math.pi / math.sqrt(jump * moves)
    return found


def too_short(mechanism: Mechanism, options: KernelOptions) -> list[tuple[str, str, str]]:
    """Key, problem and remedy of each stop whose contact is too short for the step."""
    found = []
    for key, lasts_s in contacts_s(mechanism).items():
        steps = lasts_s / options.inner_step_s
        if steps >= STEPS:
            continue
        substeps = math.ceil(STEPS * options.step_s / lasts_s)
        remedy = f"step_s = {lasts_s / STEPS:.2g} or less, or substeps = {substeps}"
        if substeps > 1000:
            remedy = f"step_s = {lasts_s / STEPS:.2g} or less, or a softer stop"
        problem = (
            f"a contact with {key} lasts {lasts_s * 1e3:.3g} ms, {steps:.2g} steps: it would gain energy; "
            f"{STEPS} steps are needed"
        )
        found.append((key, problem, remedy))
    return found

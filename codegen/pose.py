"""A mechanism in numbers, at the pose that its file gives; and what must hold there."""

from __future__ import annotations

import numpy as np

from codegen.dag import evaluate
from codegen.system import System


def built_pose(system: System) -> tuple[np.ndarray, np.ndarray]:
    """Jacobian and mass matrix as numbers, at the pose that the file gives."""
    n_q = len(system.coordinates)
    at = {c.q.name: c.initial for c in system.coordinates}
    at |= {p.var.name: p.default for p in [*system.parameters, *system.signals]}
    at |= {g.inputs[0].name: g.coordinate.initial for g in system.guides}
    jac = np.zeros((len(system.rows), n_q))
    for r, row in enumerate(system.rows):
        inside = set(system.graph.variables(row.phi))
        for c in system.coordinates:
            if c.q in inside:
                jac[r, c.index] = evaluate(system.graph.diff(row.phi, c.q), at)
    mass = np.zeros((n_q, n_q))
    for (i, j), entry in system.mass.items():
        mass[i, j] = mass[j, i] = evaluate(entry, at)
    return jac, mass


def require_mass(system: System) -> None:
    """Note a mistake if some motion that the constraints allow meets no mass."""
    jac, mass = built_pose(system)
    _, singular, right = np.linalg.svd(jac, full_matrices=True)
    rank = int(np.sum(singular > 1e-9 * max(1.0, singular.max(initial=0.0))))
    free = right[rank:].T
    if free.shape[1] == 0:
        return
    size, motion = np.linalg.eigh(free.T @ mass @ free)
    if size[0] > 1e-12 * max(1.0, mass.max(initial=0.0)):
        return
    share = np.abs(free @ motion[:, 0])
    names = [c.name for c in system.coordinates if share[c.index] > 0.1 * share.max()]
    system.at = ()
    remedy = "add a mass or a constraint"
    system.mistake("file", None, f"can move without mass: {', '.join(names)}", remedy)

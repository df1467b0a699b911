"""A mechanism in numbers, at the pose that its file gives; and checks at that pose."""

from __future__ import annotations

import numpy as np

from codegen.expressions.dag import evaluate
from codegen.pose.sparse import LARGE, factorised, rows_of
from codegen.system.system import System


def built_pose(system: System) -> tuple[np.ndarray, np.ndarray]:
    """Jacobian and mass matrix as numbers, at the pose that the file gives."""
    n_q = len(system.coordinates)
    at = {c.q.name: c.initial for c in system.coordinates}
    at |= {p.var.name: p.default for p in [*system.parameters, *system.signals]}
    at |= {g.inputs[0].name: g.coordinate.initial for g in system.guides}
    by_var = {c.q: c.index for c in system.coordinates}
    jac = np.zeros((len(system.rows), n_q))
    for r, row in enumerate(system.rows):
        for var in system.graph.variables(row.phi):
            if var in by_var:
                jac[r, by_var[var]] = evaluate(system.graph.diff(row.phi, var), at)
        for i, slope in system.slopes_of_rates(row).items():
            jac[r, i] = evaluate(slope, at)
    mass = np.zeros((n_q, n_q))
    for (i, j), entry in system.mass.items():
        mass[i, j] = mass[j, i] = evaluate(entry, at)
    return jac, mass


def massive(system: System) -> set[int]:
    """Coordinates that carry mass of their own: pivots of the mass matrix, with the parameters of
    the file, are not zero.
    """
    at = {p.var.name: p.default for p in system.parameters}
    rest: dict[int, dict[int, float]] = {}
    for (i, j), entry in system.mass.items():
        rest.setdefault(i, {})[j] = rest.setdefault(j, {})[i] = evaluate(entry, at)
    diagonal = {i: row.get(i, 0.0) for i, row in rest.items()}
    found = set()
    for k in sorted(rest):
        row = rest.pop(k)
        pivot = row.pop(k, 0.0)
        if pivot <= 1e-6 * diagonal[k]:
            continue  # a later one takes over its share
        found.add(k)
        left = {i: value for i, value in row.items() if i in rest}
        for i, mine in left.items():
            for j, other in left.items():
                rest[i][j] = rest[i].get(j, 0.0) - mine * other / pivot
    return found


def require_mass(system: System) -> None:
    """Note a mistake if some motion that the constraints allow meets no mass."""
    jac, mass = built_pose(system)
    motion = (_loose if len(mass) < LARGE else _loose_sparse)(jac, mass)
    if motion is None:
        return
    share = np.abs(motion)
    names = [c.name for c in system.coordinates if share[c.index] > 0.1 * share.max()]
    system.at = ()
    remedy = "add a mass or a constraint"
    system.mistake("file", None, f"can move without mass: {', '.join(names)}", remedy)


def _loose(jac: np.ndarray, mass: np.ndarray) -> np.ndarray | None:
    """A motion that meets neither constraint nor mass, if there is one."""
    _, singular, right = np.linalg.svd(jac, full_matrices=True)
    rank = int(np.sum(singular > 1e-9 * max(1.0, singular.max(initial=0.0))))
    free = right[rank:].T
    if free.shape[1] == 0:
        return None
    size, motion = np.linalg.eigh(free.T @ mass @ free)
    is_heavy = size[0] > 1e-12 * max(1.0, mass.max(initial=0.0))
    return None if is_heavy else free @ motion[:, 0]


def _loose_sparse(jac: np.ndarray, mass: np.ndarray) -> np.ndarray | None:
    """The same: mass + jac^T jac is singular just then, and a pivot shows it."""
    matrix = rows_of(mass / max(1.0, mass.max(initial=0.0)))
    for row in rows_of(jac):
        for i, a in row.items():
            for j, b in row.items():
                matrix[i][j] = matrix[i].get(j, 0.0) + a * b
    factor = factorised(matrix)
    lightest = min(range(len(matrix)), key=factor.pivots.__getitem__)
    if factor.pivots[lightest] > 1e-12:
        return None
    return factor.null_vector(lightest)

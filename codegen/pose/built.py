"""A mechanism in numbers, at the pose that its file gives; and checks at that pose."""

from __future__ import annotations

import numpy as np

from codegen.expressions.dag import Expr, evaluate
from codegen.pose.sparse import LARGE, factorised, rows_of
from codegen.system.system import System

NOISE = 1e-15  # of the largest mass: what round-off leaves of an inertia that is none


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
    """Note a mistake for each body, or other coordinates, that some motion moves which meets no mass."""
    jac, mass = built_pose(system)
    for c in system.coordinates:
        if c.q in system.defined and mass[c.index, c.index] == 0.0:
            # foreshortening takes part by products alone, whose sign may be either: the rest is no less than zero
            mass[c.index, :] = mass[:, c.index] = 0.0
    # each coordinate in a unit of its own, so that a light body beside a heavy one is not taken for none
    own = np.diag(mass)
    unit = np.sqrt(np.where(own > NOISE * max(1.0, own.max(initial=0.0)), own, 1.0))
    jac, mass = jac / unit, mass / np.outer(unit, unit)
    jac = jac / np.maximum(np.linalg.norm(jac, axis=1), NOISE)[:, None]
    motions = (_loose if len(mass) < LARGE else _loose_sparse)(jac, mass)
    if not motions:
        return
    share = np.linalg.norm(np.array(motions) / unit, axis=0)
    moving = {c.q: c.name for c in system.coordinates if share[c.index] > 0.1 * share.max()}
    bodies = _bodies_of(set(moving), system)
    if not bodies:
        system.at = ()
        remedy = "add a mass or a constraint"
        system.mistake("file", None, f"can move without mass: {', '.join(moving.values())}", remedy)
    for name, (variables, is_heavy) in bodies.items():
        names = ", ".join(words for var, words in moving.items() if var in variables)
        problem = f"can move without mass ({names}), and carries none"
        remedy = "give it mass and inertia, or join it to what has some"
        if is_heavy:
            problem = f"has no inertia about a way in which it can turn ({names})"
            remedy = "give it inertia_kg_m2 about that axis, or a joint that holds it"
        system.at = ("rigid_body", name)
        system.mistake("", None, problem, remedy)
    system.at = ()


def _bodies_of(moving: set[Expr], system: System) -> dict[str, tuple[set[Expr], bool]]:
    """Bodies with points or vectors among these: which, and whether they have mass. What bodies with and without mass
    share is that of those without.
    """
    at = {p.var.name: p.default for p in system.parameters}
    found: dict[str, tuple[set[Expr], bool]] = {}
    for name, body in system.bodies.items():
        inside = {
            v
            for generator in body.generators
            for e in generator
            if isinstance(e, Expr)
            for v in system.graph.variables(e)
        }
        if inside & moving:
            shares = system.masses.of_bodies.get(name, [])
            is_heavy = any(evaluate(var, at) * matrix[0, 0] > 0.0 for var, matrix in shares)
            found[name] = inside & moving, is_heavy
    light = set().union(*(own for own, is_heavy in found.values() if not is_heavy))
    return {name: made for name, made in found.items() if not (made[1] and made[0] <= light)}


def _loose(jac: np.ndarray, mass: np.ndarray) -> list[np.ndarray]:
    """Motions that meet neither constraint nor mass."""
    _, singular, right = np.linalg.svd(jac, full_matrices=True)
    rank = int(np.sum(singular > 1e-9 * max(1.0, singular.max(initial=0.0))))
    free = right[rank:].T
    if free.shape[1] == 0:
        return []
    size, motion = np.linalg.eigh(free.T @ mass @ free)
    light = size <= 1e-12 * max(1.0, mass.max(initial=0.0))
    return list((free @ motion[:, light]).T)


def _loose_sparse(jac: np.ndarray, mass: np.ndarray) -> list[np.ndarray]:
    """One of them: mass + jac^T jac is singular just then, and a pivot shows it."""
    matrix = rows_of(mass / max(1.0, mass.max(initial=0.0)))
    for row in rows_of(jac):
        for i, a in row.items():
            for j, b in row.items():
                matrix[i][j] = matrix[i].get(j, 0.0) + a * b
    factor = factorised(matrix)
    lightest = min(range(len(matrix)), key=factor.pivots.__getitem__)
    if factor.pivots[lightest] > 1e-12:
        return []
    return [factor.null_vector(lightest)]

"""Geometric stiffening of a flexible body by the loads of its own mass; see `motion.py`."""

from __future__ import annotations

import numpy as np

from codegen.expressions.dag import Expr
from codegen.flexible.motion import SMALL, Bending, defined
from codegen.flexible.reduced import AXES
from codegen.system.body import is_moving
from codegen.system.vectors import Vector, cross, plus, times


def stiffen(made: Bending) -> None:
    """Add the vectors of foreshortening, where they act on something that moves."""
    if made.modes.load is None:
        return
    made.stiffens = True
    modal = made.modes.load.copy()
    for k in range(3):
        modal[k + 1] += made.shift[k] * modal[0]
    system, graph = made.system, made.system.graph
    least = SMALL * np.max(np.abs(modal), axis=(1, 2, 3), initial=0.0).max()
    mass = made.modes.total_mass
    if np.max(np.abs(modal[0])) > least:
        moved = _foreshortening(made, modal[0] / mass)
        if is_moving(made.origin):
            moved = defined(made, f"{made.name}_shortened", "m", moved)
            for at, component in zip(made.origin, moved, strict=True):
                system.add_kinetic(at, component, graph.const(mass))
        for component, gravity in zip(moved, system.gravity, strict=True):
            if gravity != 0.0 and not graph.lift(component).is_const:
                system.add_fall(gravity * mass, component)
                system.add_potential((-gravity * mass) * component)
    partners = _partners(made, modal[1:], least)
    for number, (axis, inertia, value) in enumerate(partners):
        label = f"{made.name}_turned_short" + (str(number + 1) if len(partners) > 1 else "")
        vector = defined(made, label, "1", value)
        for at, component in zip(axis, vector, strict=True):
            system.add_kinetic(at, component, graph.const(inertia))


def _partners(made: Bending, modal: np.ndarray, least: float) -> list[tuple[Vector, float, Vector]]:
    """Moving axes of the frame, an inertia each that makes the vector a number, and the vector of that axis."""
    found: list[tuple[Vector, float, Vector]] = []
    size = float(np.trace(made.modes.moved_by(made.shift)[1:AXES, 1:AXES]))
    acting = [k for k in range(3) if is_moving(made.axes[k]) and np.max(np.abs(modal[k])) > least]
    about = made.frame.axis
    if about is None or not acting:
        return [(made.axes[k], size, _foreshortening(made, modal[k] / size)) for k in acting]
    # of a frame that turns about one axis all directions follow one of them: s = a x d, s'.v = d'.(v x a)
    first = made.turn[:, acting[0]] - np.dot(made.turn[:, acting[0]], about) * np.array(about)
    first = first / np.linalg.norm(first)
    side = np.cross(about, first)
    total: Vector = (0.0, 0.0, 0.0)
    for k in acting:
        short = _foreshortening(made, modal[k] / size)
        total = plus(total, times(float(made.turn[:, k] @ first), short))
        total = plus(total, times(float(made.turn[:, k] @ side), cross(short, about)))
    direction = made.frame.body.direction(made.system.graph, [float(x) for x in first])
    found.append((direction, size, total))
    return found


def _foreshortening(made: Bending, modal: np.ndarray) -> Vector:
    """- sum_l e_l (eta^T K_l eta) / 2."""
    found: Vector = (0.0, 0.0, 0.0)
    for k in range(3):
        if np.max(np.abs(modal[k])) > 0.0:
            found = plus(found, times(_quadratic(made, modal[k]), made.axes[k]))
    return found


def _quadratic(made: Bending, matrix: np.ndarray) -> Expr:
    graph = made.system.graph
    q = [c.q for c in made.amplitudes]
    size = np.abs(matrix).max()
    rows = []
    for i in range(len(q)):
        inner = [
            ((0.5 if i == j else 1.0) * float(matrix[i, j]), q[j])
            for j in range(i, len(q))
            if abs(matrix[i, j]) > SMALL * size
        ]
        if inner:
            rows.append((-1.0, q[i] * graph.total(inner)))
    return graph.total(rows)

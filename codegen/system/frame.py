"""The frame of a body on any mix of points and vectors, moving or fixed, and the rows that keep its shape.

The rows are lengths, angles and, for redundant points, linear ones:

    (b_i.b_j - as built) / max(|b_i|, |b_j|),   g - sum w_k g_k
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from codegen.expressions.dag import Expr
from codegen.system import body
from codegen.system.affine import affine
from codegen.system.fields import VectorValue
from codegen.system.system import System
from codegen.system.vectors import Vector, cross, dot, minus, times


class Frame(NamedTuple):
    """A body without mass, the independent arms from its first point, and the axis that it turns about."""

    body: body.Body
    arms: list[Vector]
    axis: tuple[float, float, float] | None


def frame(
    given_points: Sequence[VectorValue],
    given_vectors: Sequence[VectorValue],
    given_axis: VectorValue | None,
    name: str,
    system: System,
) -> Frame:
    """Add a body's frame to the system, with the rows that keep its shape; `given_points` are not empty."""
    points = [system.point("points", value) for value in given_points]
    _refuse_nodes(given_vectors, system)
    vectors = [system.direction("vectors", value) for value in given_vectors]
    # vectors first: a unit vector that is not needed to span the body has a row too many
    labels = [_label(value) for value in (*given_vectors, *given_points[1:])]
    arms = [*vectors, *(minus(point, points[0]) for point in points[1:])]
    axis = None
    if given_axis is not None:
        axis = _unit(system.vector("axis", given_axis))

    basis = _basis(arms, axis, system)
    origin = (1.0, *built(points[0], system))
    generators = [points[0], *(arms[k] for k in basis)]
    as_built = [origin, *((0.0, *built(arms[k], system)) for k in basis)]
    if axis is not None:
        for k in basis:
            side = cross(axis, arms[k])
            generators.append(side)
            as_built.append((0.0, *built(side, system)))
        generators.append(axis)
        as_built.append((0.0, *axis))
    made = body.make(generators, as_built)
    system.bodies[name] = made
    _shape_rows(_Shape(arms, labels, basis, axis, made), _held(vectors, points, system), system)
    system.carry(name, "point", points)
    system.carry(name, "vector", vectors)
    return Frame(made, [arms[k] for k in basis], axis)


def _refuse_nodes(given_vectors: Sequence[VectorValue], system: System) -> None:
    """Refuse directions on nodes that bend: rows that keep their lengths would hold the modes."""
    on_nodes = {
        f"{name}_{node}_{letter}"
        for name, body in system.flexible.items()
        for node in body.modes.nodes
        for letter in "xyz"
    }
    for value in given_vectors:
        if isinstance(value, str) and value in on_nodes:
            node = value[:-2]
            problem = "is a direction on a node that bends, of unit length to first order only"
            remedy = (
                f"give the body a point and vectors of its own, and fix it by `rigid` to {node}"
            )
            system.mistake("vectors", value, problem, remedy)


def _label(value: VectorValue) -> str:
    return value if isinstance(value, str) else " ".join(str(part) for part in value)


def _unit(a: Vector) -> tuple[float, float, float]:
    x, y, z = times(1.0 / dot(a, a) ** 0.5, a)
    return (x, y, z)


def built(vector: Vector, system: System) -> tuple[float, float, float]:
    """Value of a point or direction in the pose of the file."""
    x, y, z = (system.initial(component) for component in vector)
    return (x, y, z)


def _basis(arms: list[Vector], axis: Vector | None, system: System) -> list[int]:
    """The first arms that are independent: all that the body needs."""
    chosen: list[int] = []
    space = np.zeros((0, 3)) if axis is None else np.array([axis])
    for k, arm in enumerate(arms):
        candidate = np.array([*space, built(arm, system)])
        size = np.linalg.norm(candidate, axis=1, keepdims=True)
        scaled = candidate / np.where(size > 0.0, size, 1.0)
        if np.linalg.svd(scaled)[1][-1] > 1e-6 and len(chosen) < (3 if axis is None else 1):
            chosen.append(k)
            space = candidate
    return chosen


def _held(vectors: list[Vector], points: list[Vector], system: System) -> list[set[str]]:
    """Other bodies that each arm is fixed on: a body that two arms share already keeps their angle."""
    on = [system.carried_by("point", point) for point in points]
    return [*(system.carried_by("vector", v) for v in vectors), *(on[0] & end for end in on[1:])]


class _Shape(NamedTuple):
    """The arms of a body from its first point, those among them that are independent, and the axis of a flat body."""

    arms: list[Vector]
    labels: list[str]
    basis: list[int]
    axis: Vector | None
    made: body.Body


def _shape_rows(shape: _Shape, held: list[set[str]], system: System) -> None:
    arms, labels, basis, axis, made = shape
    graph = system.graph
    for position, i in enumerate(basis):
        for j in basis[: position + 1]:
            if (i == j and arms[i] in system.unit_vectors) or held[i] & held[j]:
                continue  # brings its own row, or another body has it
            a, b = _signed(arms[i]), _signed(arms[j])
            was = dot(built(a, system), built(b, system))
            scale = max(np.linalg.norm(built(a, system)), np.linalg.norm(built(b, system)))
            half = 2.0 if i == j else 1.0
            label = f"length {labels[i]}" if i == j else f"angle {labels[j]} {labels[i]}"
            system.row_if_moving(label, (dot(a, b) - was) / (half * float(scale)))
        if axis is not None:
            was = dot(axis, built(arms[i], system))
            phi = graph.lift(dot(axis, arms[i]) - was)
            system.row_if_moving(f"about axis {labels[i]}", _nothing_if_tiny(phi))
    for k in range(len(arms)):
        if k in basis:
            continue
        try:
            combined = made.direction(graph, built(arms[k], system))
        except ValueError:
            remedy = "give the body another vector"
            system.mistake("points", labels[k], "is not spanned by the others", remedy)
            continue
        if arms[k] in system.unit_vectors:
            system.rows.remove(system.unit_vectors.pop(arms[k]))  # the linear rows keep its length
        for letter, gap in zip("xyz", minus(arms[k], combined), strict=True):
            phi = _nothing_if_tiny(graph.lift(gap))
            system.row_if_moving(f"fixed {labels[k]} {letter}", phi)


def _nothing_if_tiny(phi: Expr) -> Expr:
    """A sum whose weights are all round-off is not a row."""
    found = affine(phi)
    if found and max((abs(c) for c in found[0].values()), default=0.0) < 1e-12:
        return phi.graph.const(found[1])
    return phi


def _signed(arm: Vector) -> Vector:
    """One of arm and -arm, the same for both, so that bodies that share points share rows."""
    for component in arm:
        if isinstance(component, Expr) and component.op == "sum" and component.coefs[0] != 0.0:
            return arm if component.coefs[0] > 0.0 else times(-1.0, arm)
    return arm

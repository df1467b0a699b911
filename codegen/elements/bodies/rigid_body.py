"""A rigid body on any mix of points and vectors, with its constant mass matrix.

`points` and `vectors` name moving ones, or are fixed. Positions, `centre_m` and `inertia_kg_m2`
(about the centre) are those of the pose in the file, in global axes unless `axes` gives the first
two axes of the inertia. A body that never turns but about one direction (a planar body, a shaft, a
knuckle) says so by `axis`: then a point and one more point or vector suffice. When its first point
is fixed too, an `angle` may measure its turn from the file's pose; it then carries the inertia
about the axis, which integrates a turning body more exactly than its vectors would.

The rows that keep its shape are lengths, angles and, for redundant points, linear ones:

    (b_i.b_j - as built) / max(|b_i|, |b_j|),   g - sum w_k g_k

A body on four points or more takes `mass = "particles"`: ten point masses on its first four points and between them
in place of the integral over its weights. The mass matrix is the same to round-off, by another derivation.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np

from codegen.expressions.dag import Expr
from codegen.system import body, fields
from codegen.system.affine import affine
from codegen.system.fields import Name, Number, Tunable, VectorValue
from codegen.system.masses import shares
from codegen.system.particles import PAIRS, is_flat, particle_masses
from codegen.system.system import Coordinate, System
from codegen.system.vectors import Vector, cross, dot, minus, plus, times

STAGE = 1
COMPONENTS = ("xx", "yy", "zz", "xy", "xz", "yz")


class Entry(fields.Entry):
    points: tuple[VectorValue, ...]
    vectors: tuple[VectorValue, ...] = ()
    axis: VectorValue | None = None
    angle: Name | None = None
    mass: Literal["moments", "particles"] = "moments"
    mass_kg: Tunable
    centre_m: VectorValue
    inertia_kg_m2: (
        Number
        | tuple[Number, Number, Number]
        | tuple[Number, Number, Number, Number, Number, Number]
    ) = (0.0, 0.0, 0.0)  # xx yy zz (xy xz yz), or about `axis`
    axes: tuple[VectorValue, VectorValue] | None = None


def add(entry: Entry, name: str, system: System) -> None:
    if not entry.points:
        system.mistake("points", [], "has no point", "give at least one, it may be fixed")
        return
    points = [system.point("points", value) for value in entry.points]
    vectors = [system.direction("vectors", value) for value in entry.vectors]
    # vectors first: a unit vector that is not needed to span the body has a row too many
    labels = [_label(value) for value in (*entry.vectors, *entry.points[1:])]
    arms = [*vectors, *(minus(point, points[0]) for point in points[1:])]
    axis = None
    if entry.axis is not None:
        axis = _unit(system.vector("axis", entry.axis))

    basis = _basis(arms, axis, system)
    origin = (1.0, *_built(points[0], system))
    generators = [points[0], *(arms[k] for k in basis)]
    built = [origin, *((0.0, *_built(arms[k], system)) for k in basis)]
    if axis is not None:
        for k in basis:
            side = cross(axis, arms[k])
            generators.append(side)
            built.append((0.0, *_built(side, system)))
        generators.append(axis)
        built.append((0.0, *axis))
    made = body.make(generators, built)
    system.bodies[name] = made
    _shape_rows(_Shape(arms, labels, basis, axis, made), _held(vectors, points, system), system)
    system.carry(name, "point", points)
    system.carry(name, "vector", vectors)
    angle = None
    if entry.angle is not None:
        if axis is None or not basis or body.is_moving(points[0]):
            remedy = "give `axis`, a fixed first point and another point or vector"
            system.mistake("angle", entry.angle, "turns about no fixed axis", remedy)
            return
        angle = system.scalar("angle", entry.angle, "rad")
        _turn_row(arms[basis[0]], axis, angle, system)
    _inertia(entry, points, axis, angle, made, system)


def _label(value: VectorValue) -> str:
    return value if isinstance(value, str) else " ".join(str(part) for part in value)


def _unit(a: Vector) -> Vector:
    return times(1.0 / dot(a, a) ** 0.5, a)


def _built(vector: Vector, system: System) -> tuple[float, float, float]:
    x, y, z = (system.initial(component) for component in vector)
    return (x, y, z)


def _basis(arms: list[Vector], axis: Vector | None, system: System) -> list[int]:
    """The first arms that are independent: all that the body needs."""
    chosen: list[int] = []
    space = np.zeros((0, 3)) if axis is None else np.array([axis])
    for k, arm in enumerate(arms):
        candidate = np.array([*space, _built(arm, system)])
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
            was = dot(_built(a, system), _built(b, system))
            scale = max(np.linalg.norm(_built(a, system)), np.linalg.norm(_built(b, system)))
            half = 2.0 if i == j else 1.0
            label = f"length {labels[i]}" if i == j else f"angle {labels[j]} {labels[i]}"
            system.row_if_moving(label, (dot(a, b) - was) / (half * float(scale)))
        if axis is not None:
            was = dot(axis, _built(arms[i], system))
            phi = graph.lift(dot(axis, arms[i]) - was)
            system.row_if_moving(f"about axis {labels[i]}", _nothing_if_tiny(phi))
    for k in range(len(arms)):
        if k in basis:
            continue
        try:
            combined = made.direction(graph, _built(arms[k], system))
        except ValueError:
            remedy = "give the body another vector"
            system.mistake("points", labels[k], "is not spanned by the others", remedy)
            continue
        if arms[k] in system.unit_vectors:
            system.rows.remove(system.unit_vectors.pop(arms[k]))  # the linear rows keep its length
        for letter, gap in zip("xyz", minus(arms[k], combined), strict=True):
            phi = _nothing_if_tiny(graph.lift(gap))
            system.row_if_moving(f"fixed {labels[k]} {letter}", phi)


def _turn_row(arm: Vector, axis: Vector, angle: Coordinate, system: System) -> None:
    """The angle follows the arm, from where both are as built; see `rotation`."""
    was = _built(arm, system)
    side = minus(was, times(dot(axis, was), axis))
    radius = dot(side, side) ** 0.5
    e1 = times(1.0 / radius, side)
    e2 = cross(axis, e1)
    c, s = math.cos(angle.initial), math.sin(angle.initial)
    zero = minus(times(c, e1), times(s, e2))
    ahead = plus(times(s, e1), times(c, e2))
    sine, cosine = system.graph.call("sin", angle.q), system.graph.call("cos", angle.q)
    system.row("angle", (dot(arm, ahead) / radius) * cosine - (dot(arm, zero) / radius) * sine)


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


def _inertia(
    entry: Entry,
    points: list[Vector],
    axis: Vector | None,
    angle: Coordinate | None,
    made: body.Body,
    system: System,
) -> None:
    """Mass entries: m w(c) w(c)^T + W S W^T, S = trace(I)/2 - I the second moments of mass."""
    mass = system.inertial("mass_kg", entry.mass_kg)
    centre = system.vector("centre_m", entry.centre_m)
    system.add_weight(_point(made, centre, system), mass)
    parts = _second_moments(entry, axis, system)
    system.masses.of_bodies[system.at[-1]] = shares(mass, centre, [(v, m) for v, _, m in parts])
    _require_physical(entry, sum((d * m for _, d, m in parts), np.zeros((3, 3))), system)
    if entry.mass == "particles":
        _particles(entry, points, system)
        _show(made, _point(made, centre, system), system)
        return
    try:
        w = made.weights((1.0, *centre))
        if axis is None:
            _require_span(made, sum((d * m for _, d, m in parts), np.zeros((3, 3))))
    except ValueError as error:
        remedy = "give the body more points or vectors, or an `axis`"
        system.mistake("", None, f"its mass {error}", remedy)
        return
    if angle is not None and axis is not None:
        arm = cross(axis, minus(centre, tuple(made.built[1:, 0])))
        about = [(mass, dot(arm, arm))]
        n = np.array(axis)
        about += [(var, float(np.trace(moment) - n @ moment @ n)) for var, _, moment in parts]
        total = system.graph.total((float(f"{size:.14g}"), var) for var, size in about)
        system.add_mass(angle, angle, total)
        parts, mass = [], system.graph.zero
    parted = [(mass, np.outer(w, w))]
    for var, _, moment in parts:
        full = np.zeros((4, 4))
        full[1:, 1:] = moment
        parted.append((var, made.inverse @ full @ made.inverse.T))
    graph = system.graph
    parted = [(var, body.tidy(matrix)) for var, matrix in parted]
    # the mass matrix sums kinetic energies of pairs of generators
    for k in range(len(made.generators)):
        for j in range(k, len(made.generators)):
            entry_kj = graph.total((float(matrix[k, j]), var) for var, matrix in parted)
            if entry_kj.is_zero:
                continue
            for a, b in zip(made.generators[k], made.generators[j], strict=True):
                system.add_kinetic(a, b, entry_kj)
    _show(made, _point(made, centre, system), system)


def _particles(entry: Entry, points: list[Vector], system: System) -> None:
    """Ten point masses on the first four points and between them; see `codegen.system.particles`."""
    first = points[:4]
    built = [_built(point, system) for point in first]
    if entry.axis is not None or len(first) < 4 or is_flat(built):
        problem = "needs a body without `axis` whose first four points are not in a plane"
        system.mistake("mass", entry.mass, problem, 'give it such points, or mass = "moments"')
        return
    graph = system.graph
    each = [
        (var, body.tidy(particle_masses(moment, built)))
        for var, moment in system.masses.of_bodies[system.at[-1]]
    ]
    places = [*first, *(times(0.5, plus(first[i], first[j])) for i, j in PAIRS)]
    for k, place in enumerate(places):
        mass = graph.total((float(masses[k]), var) for var, masses in each)
        for component in place:
            system.add_kinetic(component, component, mass)


def _show(made: body.Body, centre: Vector, system: System) -> None:
    """Values that outputs may show."""
    graph = system.graph
    x, y, z = centre
    for key, component in zip(("x_m", "y_m", "z_m"), (x, y, z), strict=True):
        system.value(key, component, "_m")
    for letter, direction in zip("xyz", np.eye(3), strict=True):
        try:
            turned = made.direction(graph, [float(d) for d in direction])
        except ValueError:
            continue  # a rod has no orientation about itself
        for row, component in zip("xyz", turned, strict=True):
            system.value(f"r_{row}{letter}", component, "")


def _point(made: body.Body, position: tuple[float, float, float], system: System) -> Vector:
    try:
        return made.point(system.graph, position)
    except ValueError:
        return position  # reported with the inertia


def _require_physical(entry: Entry, moment: np.ndarray, system: System) -> None:
    """Masses are not negative, so no second moment is: no principal moment of inertia exceeds the
    sum of the other two.
    """
    least = np.linalg.eigvalsh(moment)
    if least[0] >= -1e-6 * max(abs(least[-1]), 1e-12):
        return
    principal = ", ".join(f"{value:.6g}" for value in np.sort(np.sum(least) - least))
    problem = f"belongs to no body: of the principal moments {principal} one exceeds the other two"
    remedy = "correct the inertia; it is about the centre of mass, products are those of the tensor"
    system.mistake("inertia_kg_m2", entry.inertia_kg_m2, problem, remedy)


def _require_span(made: body.Body, moment: np.ndarray) -> None:
    span = made.built[1:, made.built[0] == 0.0]
    outside = np.eye(3) - span @ np.linalg.pinv(span) if span.size else np.eye(3)
    size = float(np.max(np.abs(moment)))
    if np.max(np.abs(outside @ moment @ outside)) > 1e-9 * max(size, 1e-12):
        raise ValueError("extends beyond what the body's points and vectors span")


def _second_moments(
    entry: Entry, axis: Vector | None, system: System
) -> list[tuple[Expr, float, np.ndarray]]:
    """Parameter, value and second-moment matrix of each given component of the inertia."""
    given = entry.inertia_kg_m2
    if isinstance(given, tuple):
        turn = np.eye(3)
        if entry.axes is not None:
            first, second = (np.array(system.vector("axes", value)) for value in entry.axes)
            if abs(first @ first - 1) + abs(second @ second - 1) + abs(first @ second) > 1e-9:
                system.mistake(
                    "axes",
                    list(entry.axes),
                    "are not two perpendicular units",
                    "use unit(), cross()",
                )
            turn = np.array([first, second, np.cross(first, second)]).T
        found = []
        for key, value in zip(COMPONENTS, given, strict=False):
            i, j = ("xyz".index(letter) for letter in key)
            unit = np.zeros((3, 3))
            unit[i, j] = unit[j, i] = 1.0
            default = system.number("inertia_kg_m2", value)
            if default == 0.0:
                continue
            moment = np.trace(unit) / 2.0 * np.eye(3) - unit
            above = 0.0 if i == j and default > 0.0 else None
            var = system.tunable(f"inertia_{key}_kg_m2", default, above=above)
            found.append((var, default, turn @ moment @ turn.T))
        return found
    default = system.number("inertia_kg_m2", given)
    if axis is None:
        system.mistake(
            "inertia_kg_m2", given, "is one number", "give xx yy zz, or the body an `axis`"
        )
        return []
    across = (np.eye(3) - np.outer(axis, axis)) / 2.0
    return [(system.inertial("inertia_kg_m2", default), default, across)] if default else []

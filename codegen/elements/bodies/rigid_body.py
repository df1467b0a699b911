"""A rigid body on any mix of points and vectors, with its constant mass matrix.

`points` and `vectors` name moving ones, or are fixed. Positions, `centre_m` and `inertia_kg_m2`
(about the centre) are those of the pose in the file, in global axes unless `axes` gives the first
two axes of the inertia. A body that never turns but about one direction (a planar body, a shaft, a
knuckle) says so by `axis`: then a point and one more point or vector suffice. When its first point
is fixed too, an `angle` may measure its turn from the file's pose; it then carries the inertia
about the axis, which integrates a turning body more exactly than its vectors would.

The rows that keep its shape are those of `codegen.system.frame`.

A body on four points or more takes `mass = "particles"`: ten point masses on its first four points and between them
in place of the integral over its weights. The mass matrix is the same to round-off, by another derivation.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from codegen.expressions.dag import Expr
from codegen.system import body, fields
from codegen.system.fields import Name, Number, Tunable, VectorValue
from codegen.system.frame import built, frame
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
    made_frame = frame(entry.points, entry.vectors, entry.axis, name, system)
    made, axis = made_frame.body, made_frame.axis
    angle = None
    if entry.angle is not None:
        if axis is None or not made_frame.arms or body.is_moving(made.generators[0]):
            remedy = (
                "give `axis`, a fixed first point and another point or vector; "
                "a `rotation` measures the turn of a body that moves"
            )
            system.mistake("angle", entry.angle, "turns about no fixed axis", remedy)
            return
        angle = system.scalar("angle", entry.angle, "rad")
        _turn_row(made_frame.arms[0], axis, angle, system)
    _inertia(entry, axis, angle, made, system)


def _turn_row(arm: Vector, axis: Vector, angle: Coordinate, system: System) -> None:
    """The angle follows the arm, from where both are as built; see `rotation`."""
    was = built(arm, system)
    side = minus(was, times(dot(axis, was), axis))
    radius = dot(side, side) ** 0.5
    e1 = times(1.0 / radius, side)
    e2 = cross(axis, e1)
    c, s = math.cos(angle.initial), math.sin(angle.initial)
    zero = minus(times(c, e1), times(s, e2))
    ahead = plus(times(s, e1), times(c, e2))
    sine, cosine = system.graph.call("sin", angle.q), system.graph.call("cos", angle.q)
    system.row("angle", (dot(arm, ahead) / radius) * cosine - (dot(arm, zero) / radius) * sine)


def _inertia(
    entry: Entry, axis: Vector | None, angle: Coordinate | None, made: body.Body, system: System
) -> None:
    """Mass entries: m w(c) w(c)^T + W S W^T, S = trace(I)/2 - I the second moments of mass."""
    mass = system.inertial("mass_kg", entry.mass_kg)
    centre = system.vector("centre_m", entry.centre_m)
    system.add_weight(_point(made, centre, system), mass)
    parts = _second_moments(entry, axis, system)
    system.masses.of_bodies[system.at[-1]] = shares(mass, centre, [(v, m) for v, _, m in parts])
    _require_physical(entry, sum((d * m for _, d, m in parts), np.zeros((3, 3))), system)
    if entry.mass == "particles":
        _particles(entry, system)
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


def _particles(entry: Entry, system: System) -> None:
    """Ten point masses on the first four points and between them; see `codegen.system.particles`."""
    first = [system.point("points", value) for value in entry.points[:4]]
    places = [built(point, system) for point in first]
    if entry.axis is not None or len(first) < 4 or is_flat(places):
        problem = "needs a body without `axis` whose first four points are not in a plane"
        system.mistake("mass", entry.mass, problem, 'give it such points, or mass = "moments"')
        return
    graph = system.graph
    each = [
        (var, body.tidy(particle_masses(moment, places)))
        for var, moment in system.masses.of_bodies[system.at[-1]]
    ]
    at_and_between = [*first, *(times(0.5, plus(first[i], first[j])) for i, j in PAIRS)]
    for k, point in enumerate(at_and_between):
        mass = graph.total((float(masses[k]), var) for var, masses in each)
        for component in point:
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

"""Riccati's transformation through a link, in the axes of the ground: from its outer joints to its inner one and back.

The state of a joint is [a; alpha; m; q]: accelerations of its point and of the body there, the moment and the force
that it hands on. Tips have no moment and no force, so that everywhere [m; q] = S [alpha; a] + e, matrices of half the
size:

    body    the inputs' S and e about its output, summed over all inputs, and its own inertia and what acts on it
    joint   h^T (S [alpha; a] + e) = tau gives what the joint leaves open, qdd = (tau - h^T (S z + e)) / D,
            D = h^T S h + rotor;  S' = S - S h D^-1 h^T S,  e' = e + S' c + S h D^-1 (tau - h^T e)
    back    z of the inner side gives qdd, z of the outer side, and with it the moment and force of the joint, S z + e

h is the joint's axis, c the part of the accelerations that its rates make. A joint states its own condition: the
published matrix of a smooth hinge takes it from the body beside it, and is singular where two rods of a plane are at
right angles.

Signs: of the published state at a body's output m is this moment and q this force turned round.

Source: Rui, Bestle, Wang and others 2020; as innovations factorisation Rodriguez, Jain and Kreutz-Delgado 1991.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codegen.expressions.dag import Expr, Graph
from codegen.spatial.algebra import (
    NO_WRENCH,
    ZERO,
    Inertia,
    Matrix,
    Value,
    Wrench,
    apply,
    skew,
    symmetric,
    transposed,
    without_joint,
)
from codegen.system.vectors import Vector, cross, dot, minus, plus, times


@dataclass
class Opened:
    """Results for the way back through a turn or slide: `gain` is S h D^-1, `drive` is D^-1 (tau - h^T e)."""

    gain: Wrench = NO_WRENCH
    drive: Value = 0.0


def inertia_of(mass: Value, first: Vector, second: Matrix, axes: Sequence[Vector]) -> Inertia:
    """Of a body about its origin, in the axes of the ground, which are `axes` in those of the body.

    Parameters
    ----------
    first : Vector
        Mass times centre.
    second : Matrix
        Inertia about the origin: about the point that the body is referred to, not about its centre.
    """
    halves = [apply(second, way) for way in axes]
    turning = symmetric(lambda i, j: dot(axes[i], halves[j]))
    moving: Matrix = [[mass if i == j else 0.0 for j in range(3)] for i in range(3)]
    return Inertia(turning, skew(out(axes, first)), moving)


def out(axes: Sequence[Vector], v: Vector) -> Vector:
    """A vector of a link in the axes of the ground."""
    x, y, z = (dot(way, v) for way in axes)
    return (x, y, z)


def into(axes: Sequence[Vector], v: Vector) -> Vector:
    """A vector of the ground in the axes of a link."""
    x, y, z = (times(part, way) for part, way in zip(v, axes, strict=True))
    return plus(plus(x, y), z)


def column(axes: Sequence[Vector], k: int) -> Vector:
    """An axis of a link in the axes of the ground."""
    return (axes[0][k], axes[1][k], axes[2][k])


def resistance(inertia: Inertia, omega: Vector) -> Wrench:
    """Moment and force that keep a body's rates as they are: omega x J omega, omega x (omega x m c)."""
    m = inertia.coupling
    first = (m[2][1], m[0][2], m[1][0])
    spin = cross(omega, apply(inertia.turning, omega))
    return Wrench(spin, cross(omega, cross(omega, first)))


def carried(
    alpha: Vector, a: Vector, r: Vector, bias: tuple[Vector, Vector]
) -> tuple[Vector, Vector]:
    """Accelerations on the inner side of a joint at r on a body, and what the joint's rates add to them."""
    return plus(alpha, bias[0]), plus(plus(a, cross(alpha, r)), bias[1])


def handed(of: tuple[Inertia, Wrench], r: Vector) -> tuple[Inertia, Wrench]:
    """S and e of an input at r, about the body's output."""
    inertia, (moment, force) = of
    return inertia.shifted(r), Wrench(plus(moment, cross(r, force)), force)


def opened(
    graph: Graph,
    of: tuple[Inertia, Wrench],
    axis: Vector,
    *,
    turns: bool,
    acting: Expr,
    rotor: Value,
    bias: tuple[Vector, Vector],
    at: Opened,
) -> tuple[Inertia, Wrench]:
    """S and e on the inner side of a turn or slide.

    Raises
    ------
    ZeroDivisionError
        Nothing that hangs on the joint resists it.
    """
    inertia, pull = of
    back = transposed(inertia.coupling)
    on_moment = apply(inertia.turning if turns else inertia.coupling, axis)
    on_force = apply(back if turns else inertia.moving, axis)
    size = graph.lift(dot(axis, on_moment if turns else on_force) + rotor)
    inverse = graph.reciprocal(size)
    u = acting - dot(axis, pull.moment if turns else pull.force)
    gain = Wrench(times(inverse, on_moment), times(inverse, on_force))
    at.gain, at.drive = gain, inverse * u
    along = _number(axis) if graph.lift(rotor).is_zero else None

    def gone(i: int, of_turn: bool) -> bool:
        """Along an axis of the ground nothing is left, but for a rotor's share."""
        return i == along and of_turn == turns

    rest = without_joint(inertia, Wrench(on_moment, on_force), gain, gone, graph.zero)
    push = rest.times(*bias)
    moment = plus(plus(pull.moment, push.moment), times(u, gain.moment))
    force = plus(plus(pull.force, push.force), times(u, gain.force))
    if along is not None and turns:
        moment = _with(moment, along, acting * axis[along])
    elif along is not None:
        force = _with(force, along, acting * axis[along])
    return rest, Wrench(moment, force)


def followed(at: Opened, alpha: Vector, a: Vector) -> Value:
    """Acceleration of a turn or slide, from the accelerations on its inner side."""
    return at.drive - dot(at.gain.moment, alpha) - dot(at.gain.force, a)


def moved(
    axis: Vector, qdd: Value, alpha: Vector, a: Vector, *, turns: bool
) -> tuple[Vector, Vector]:
    """Accelerations on the outer side of a turn or slide."""
    along = times(qdd, axis)
    return (plus(alpha, along), a) if turns else (alpha, plus(a, along))


def weighed(of: tuple[Inertia, Wrench], alpha: Vector, a: Vector) -> Wrench:
    """Moment and force that a joint hands to its link, S [alpha; a] + e."""
    inertia, pull = of
    return inertia.times(alpha, a).plus(pull)


def unloaded(pull: Wrench, load: Wrench) -> Wrench:
    """The same minus the load on a body."""
    return Wrench(minus(pull.moment, load.moment), minus(pull.force, load.force))


def ground(gravity: Vector) -> list[Value]:
    """Axes, omega, alpha and a of the ground, which accelerates upwards instead of weights."""
    rows: list[Value] = [float(i == j) for i in range(3) for j in range(3)]
    return [*rows, *ZERO, *ZERO, *times(-1.0, gravity)]


def _number(axis: Vector) -> int | None:
    """Number of the axis of the ground that this is; None: it moves, or is none."""
    if any(isinstance(part, Expr) and not part.is_const for part in axis):
        return None
    values = [part.value if isinstance(part, Expr) else float(part) for part in axis]
    found = [k for k, value in enumerate(values) if value != 0.0]
    return found[0] if len(found) == 1 else None


def _with(v: Vector, k: int, value: Value) -> Vector:
    parts = [value if i == k else part for i, part in enumerate(v)]
    return (parts[0], parts[1], parts[2])

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
    without_joint,
)
from codegen.system.vectors import Vector, cross, dot, minus, plus, times


@dataclass
class Opened:
    """Results for the way back through a turn, slide or screw: `gain` is S h D^-1, `drive` is D^-1 (tau - h^T e)."""

    gain: Wrench = NO_WRENCH
    drive: Value = 0.0


def inertia_of(mass: Value, first: Vector, second: Matrix, axes: Sequence[Vector]) -> Inertia:
    """Return the inertia of a body about its origin, in the axes of the ground; `axes` are these in the body.

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


@dataclass(frozen=True)
class Axis:
    """The axis of a turn, slide or screw in the axes of the ground: its turning and travel for one unit."""

    turning: Vector
    travel: Vector

    @property
    def number(self) -> tuple[int, bool] | None:
        """Number of the axis of the ground that a turn (True) or slide has; None: another axis, or a screw's."""
        turns, moves = _number(self.turning), _number(self.travel)
        if turns is not None and _is_nothing(self.travel):
            return turns, True
        return None if moves is None or not _is_nothing(self.turning) else (moves, False)

    def feels(self, of: Wrench) -> Value:
        """The part of a moment and force that its joint feels."""
        return dot(self.turning, of.moment) + dot(self.travel, of.force)


def opened(
    graph: Graph,
    of: tuple[Inertia, Wrench],
    axis: Axis,
    *,
    acting: Expr,
    rotor: Value,
    bias: tuple[Vector, Vector],
    at: Opened,
) -> tuple[Inertia, Wrench]:
    """S and e on the inner side of a turn, slide or screw.

    Raises
    ------
    ZeroDivisionError
        Nothing that hangs on the joint resists it.
    """
    inertia, pull = of
    on = inertia.times(axis.turning, axis.travel)
    on_moment, on_force = on
    inverse = graph.reciprocal(graph.lift(axis.feels(on) + rotor))
    u = acting - axis.feels(pull)
    gain = Wrench(times(inverse, on_moment), times(inverse, on_force))
    at.gain, at.drive = gain, inverse * u
    along = axis.number if graph.lift(rotor).is_zero else None

    def gone(i: int, of_turn: bool) -> bool:
        """Along an axis of the ground nothing is left, but for a rotor's share."""
        return along == (i, of_turn)

    rest = without_joint(inertia, on, gain, gone, graph.zero)
    push = rest.times(*bias)
    moment = plus(plus(pull.moment, push.moment), times(u, gain.moment))
    force = plus(plus(pull.force, push.force), times(u, gain.force))
    if along is not None and along[1]:
        moment = _with(moment, along[0], acting * axis.turning[along[0]])
    elif along is not None:
        force = _with(force, along[0], acting * axis.travel[along[0]])
    return rest, Wrench(moment, force)


def followed(at: Opened, alpha: Vector, a: Vector) -> Value:
    """Acceleration of a turn, slide or screw, from the accelerations on its inner side."""
    return at.drive - dot(at.gain.moment, alpha) - dot(at.gain.force, a)


def moved(axis: Axis, qdd: Value, alpha: Vector, a: Vector) -> tuple[Vector, Vector]:
    """Accelerations on the outer side of a turn, slide or screw."""
    return plus(alpha, times(qdd, axis.turning)), plus(a, times(qdd, axis.travel))


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


def _is_nothing(v: Vector) -> bool:
    return all(
        (part.is_const and part.value == 0.0) if isinstance(part, Expr) else part == 0.0
        for part in v
    )


def _with(v: Vector, k: int, value: Value) -> Vector:
    parts = [value if i == k else part for i, part in enumerate(v)]
    return (parts[0], parts[1], parts[2])

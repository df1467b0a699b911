"""Vectors and inertias from the axes of one link to those of another, with every constant folded.

A transformation between links is a row of turns about x and z and of shifts along them (`codegen.topology.frames`), for
each of these leaves most of a vector or inertia alone, and zeros where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from codegen.expressions.dag import Expr
from codegen.system.vectors import Vector, cross, dot, plus

Value = Expr | float
Matrix = list[list[Value]]
ZERO: Vector = (0.0, 0.0, 0.0)


class Wrench(NamedTuple):
    """A moment about a point, and a force."""

    moment: Vector
    force: Vector

    def plus(self, other: Wrench) -> Wrench:
        return Wrench(plus(self.moment, other.moment), plus(self.force, other.force))


NO_WRENCH = Wrench(ZERO, ZERO)


@dataclass(frozen=True)
class Inertia:
    """Inertia of a link, or of a link with all links behind it, about a point.

    Moment = turning alpha + coupling a, force = coupling^T alpha + moving a, where a is the acceleration of the point.
    """

    turning: Matrix
    coupling: Matrix
    moving: Matrix

    def plus(self, other: Inertia) -> Inertia:
        return Inertia(
            _sum(self.turning, other.turning),
            _sum(self.coupling, other.coupling),
            _sum(self.moving, other.moving),
        )

    def times(self, alpha: Vector, a: Vector) -> Wrench:
        back = transposed(self.coupling)
        return Wrench(
            plus(apply(self.turning, alpha), apply(self.coupling, a)),
            plus(apply(back, alpha), apply(self.moving, a)),
        )

    def changed(self, change: Callable[[Value, int, int], Value]) -> Inertia:
        """Change each entry by its row and column, 0 to 2 for moments and turns, 3 to 5 for forces and slides."""
        return Inertia(
            symmetric(lambda i, j: change(self.turning[i][j], i, j)),
            [[change(self.coupling[i][j], i, 3 + j) for j in range(3)] for i in range(3)],
            symmetric(lambda i, j: change(self.moving[i][j], 3 + i, 3 + j)),
        )

    def shifted(self, r: Vector) -> Inertia:
        """About a point from which this one is at r."""
        moved = _sum(self.coupling, _crossed(r, self.moving))
        # turning - coupling r~ + r~ moved^T, symmetric
        left = transposed(_crossed(r, transposed(self.coupling)))
        right = _crossed(r, transposed(moved))
        turning = symmetric(lambda i, j: (self.turning[i][j] + left[i][j]) + right[i][j])
        return Inertia(turning, moved, self.moving)


def without_joint(
    of: Inertia, on: Wrench, gain: Wrench, gone: Callable[[int, bool], bool], zero: Value
) -> Inertia:
    """Take a turn or slide out of an inertia: S - (S h) (S h D^-1)^T.

    Parameters
    ----------
    on, gain : Wrench
        S h and S h D^-1, of the joint's axis h.
    gone : callable
        From a place, and whether it is of the moment, to whether nothing is left there, exactly.
    zero : Value
        Stands where nothing is left.
    """

    left, right = (*on.moment, *on.force), (*gain.moment, *gain.force)

    def less(value: Value, i: int, j: int) -> Value:
        if gone(i % 3, i < 3) or gone(j % 3, j < 3):
            return zero
        return value - left[i] * right[j]

    return of.changed(less)


@dataclass(frozen=True)
class Turn:
    """About x (0) or z (2), by an angle with this cosine and sine: from the inner axes to the outer ones."""

    axis: int
    cosine: Value
    sine: Value

    @property
    def is_nothing(self) -> bool:
        return _is(self.cosine, 1.0) and _is(self.sine, 0.0)

    def vector(self, v: Vector, *, inwards: bool = False) -> Vector:
        i, j = (self.axis + 1) % 3, (self.axis + 2) % 3
        sine = -self.sine if inwards else self.sine
        found: list[Value] = list(v)
        found[i] = self.cosine * v[i] - sine * v[j]
        found[j] = sine * v[i] + self.cosine * v[j]
        return (found[0], found[1], found[2])

    def inertia(self, of: Inertia) -> Inertia:
        return Inertia(
            self.symmetric(of.turning), self.general(of.coupling), self.symmetric(of.moving)
        )

    def general(self, m: Matrix) -> Matrix:
        """Any matrix of second moments, in the outer axes."""
        rows = transposed([list(self.vector(_triple(column))) for column in transposed(m)])
        return [list(self.vector(_triple(row))) for row in rows]

    def symmetric(self, m: Matrix) -> Matrix:
        """A symmetric matrix in the outer axes."""
        i, j, k = (self.axis + 1) % 3, (self.axis + 2) % 3, self.axis
        c, s = self.cosine, self.sine
        a, b = c * m[i][i] - s * m[i][j], c * m[i][j] - s * m[j][j]
        made: Matrix = [[0.0] * 3 for _ in range(3)]
        made[i][i] = c * a - s * b
        made[i][j] = made[j][i] = s * a + c * b
        if _is(c, 0.0) or _is(s, 0.0):  # quarter turns exchange moments, half turns keep them
            made[j][j] = m[i][i] if _is(c, 0.0) else m[j][j]
        else:
            made[j][j] = (m[i][i] + m[j][j]) - made[i][i]
        made[i][k] = made[k][i] = c * m[i][k] - s * m[j][k]
        made[j][k] = made[k][j] = s * m[i][k] + c * m[j][k]
        made[k][k] = m[k][k]
        return made


@dataclass(frozen=True)
class Rotation:
    """Any rotation, by its matrix from the inner axes to the outer ones."""

    matrix: Matrix

    @property
    def is_nothing(self) -> bool:
        return all(_is(self.matrix[i][j], float(i == j)) for i in range(3) for j in range(3))

    def vector(self, v: Vector, *, inwards: bool = False) -> Vector:
        return apply(transposed(self.matrix) if inwards else self.matrix, v)

    def inertia(self, of: Inertia) -> Inertia:
        return Inertia(*(self.general(m) for m in (of.turning, of.coupling, of.moving)))

    def general(self, m: Matrix) -> Matrix:
        """Any matrix of second moments, in the outer axes."""
        columns = [list(self.vector(_triple(column))) for column in transposed(m)]
        return [list(self.vector(_triple(row))) for row in transposed(columns)]

    def symmetric(self, m: Matrix) -> Matrix:
        """A symmetric matrix in the outer axes."""
        made = self.general(m)
        return symmetric(lambda i, j: made[i][j])


@dataclass(frozen=True)
class Shift:
    """Along the axes of both: the inner origin is at `by` from the outer one."""

    by: Vector


class Passage:
    """From a link's axes and origin to those of its parent: steps from the inside out."""

    def __init__(self, steps: Sequence[Turn | Rotation | Shift]) -> None:
        self.steps = [
            step
            for step in steps
            if not (
                all(_is(c, 0.0) for c in step.by) if isinstance(step, Shift) else step.is_nothing
            )
        ]

    def out(self, v: Vector) -> Vector:
        """A vector of the link in the parent's axes."""
        for step in self.steps:
            v = v if isinstance(step, Shift) else step.vector(v)
        return v

    def into(self, v: Vector) -> Vector:
        """A vector of the parent in the link's axes."""
        for step in reversed(self.steps):
            v = v if isinstance(step, Shift) else step.vector(v, inwards=True)
        return v

    @property
    def origin(self) -> Vector:
        """The link's origin from the parent's one, in the parent's axes."""
        at: Vector = ZERO
        for step in self.steps:
            at = plus(at, step.by) if isinstance(step, Shift) else step.vector(at)
        return at

    def wrench_out(self, of: Wrench) -> Wrench:
        moment, force = of
        for step in self.steps:
            if isinstance(step, Shift):
                moment = plus(moment, cross(step.by, force))
            else:
                moment, force = step.vector(moment), step.vector(force)
        return Wrench(moment, force)

    def motion_in(self, alpha: Vector, a: Vector) -> tuple[Vector, Vector]:
        """Angular acceleration, and acceleration of the origin but for what omega adds."""
        for step in reversed(self.steps):
            if isinstance(step, Shift):
                a = plus(a, cross(alpha, step.by))
            else:
                alpha, a = step.vector(alpha, inwards=True), step.vector(a, inwards=True)
        return alpha, a

    def inertia_out(self, of: Inertia) -> Inertia:
        for step in self.steps:
            of = of.shifted(step.by) if isinstance(step, Shift) else step.inertia(of)
        return of


def apply(m: Matrix, v: Vector) -> Vector:
    x, y, z = (dot(_triple(row), v) for row in m)
    return (x, y, z)


def transposed(m: Matrix) -> Matrix:
    return [[m[j][i] for j in range(3)] for i in range(3)]


def symmetric(entry: Callable[[int, int], Value]) -> Matrix:
    """A matrix of which only the upper triangle is asked for."""
    made: Matrix = [[0.0] * 3 for _ in range(3)]
    for i in range(3):
        for j in range(i, 3):
            made[i][j] = made[j][i] = entry(i, j)
    return made


def skew(v: Vector) -> Matrix:
    x, y, z = v
    return [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]


def _crossed(r: Vector, m: Matrix) -> Matrix:
    """r~ m."""
    return transposed([list(cross(r, _triple(column))) for column in transposed(m)])


def _sum(a: Matrix, b: Matrix) -> Matrix:
    return [[a[i][j] + b[i][j] for j in range(3)] for i in range(3)]


def _triple(values: Sequence[Value]) -> Vector:
    return (values[0], values[1], values[2])


def _is(value: Value, number: float) -> bool:
    if isinstance(value, Expr):
        return value.is_const and value.value == number
    return value == number

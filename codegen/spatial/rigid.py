"""Sums over rigid bodies about a point: their mass and moments, momenta, and the forces on them.

    velocity of a place at rho from the point, less that of the point:  u
    mass, first, turning    sums of m, m rho and of the inertia;  momentum, spread    of m u and m u rho^T
    force, reach            of forces f on places and rho f^T

All of them are sums over bodies, and go from one link's axes and origin to those of its parent.
"""

from __future__ import annotations

from dataclasses import dataclass

from codegen.spatial.algebra import ZERO, Matrix, Passage, Shift, Value, Wrench, apply, transposed
from codegen.system.vectors import Vector, cross, dot, minus, plus, times

NONE: Matrix = [[0.0] * 3 for _ in range(3)]


@dataclass(frozen=True)
class RigidMass:
    """Mass, mass times centre, and the inertia about the point."""

    mass: Value
    first: Vector
    turning: Matrix

    def plus(self, other: RigidMass) -> RigidMass:
        return RigidMass(
            self.mass + other.mass,
            plus(self.first, other.first),
            total(self.turning, other.turning),
        )

    def times(self, alpha: Vector, a: Vector) -> Wrench:
        """The wrench that gives the point and its axes these accelerations."""
        return Wrench(
            plus(apply(self.turning, alpha), cross(self.first, a)),
            plus(times(self.mass, a), cross(alpha, self.first)),
        )

    def out(self, passage: Passage) -> RigidMass:
        """The same in the axes and about the origin of the parent."""
        first, turning = self.first, self.turning
        for step in passage.steps:
            if not isinstance(step, Shift):
                first, turning = step.vector(first), step.symmetric(turning)
                continue
            moved = times(self.mass, step.by)
            half = plus(first, times(0.5, moved))
            first, twice = plus(first, moved), 2.0 * dot(half, step.by)
            across = outer(half, step.by)
            turning = [
                [
                    turning[i][j] + (twice if i == j else 0.0) - (across[i][j] + across[j][i])
                    for j in range(3)
                ]
                for i in range(3)
            ]
        return RigidMass(self.mass, first, turning)


@dataclass(frozen=True)
class Flow:
    """Momentum beside the point, and the second moments of velocities and places."""

    momentum: Vector
    spread: Matrix

    def plus(self, other: Flow) -> Flow:
        return Flow(plus(self.momentum, other.momentum), total(self.spread, other.spread))

    def out(self, passage: Passage, speed: Vector, outside: RigidMass) -> Flow:
        """The same for the parent, beside which the point has a `speed`; `outside` is the mass there."""
        momentum, origin = passage.out(self.momentum), passage.origin
        moved = total(outer(momentum, origin), outer(speed, outside.first))
        return Flow(
            plus(momentum, times(outside.mass, speed)),
            total(matrix_out(passage, self.spread), moved),
        )

    def turned(self, omega: Vector) -> Wrench:
        """Sum of the wrenches of m omega x u."""
        trace = self.spread[0][0] + self.spread[1][1] + self.spread[2][2]
        return Wrench(
            minus(times(trace, omega), apply(self.spread, omega)), cross(omega, self.momentum)
        )

    def met(self, way: tuple[Vector, Vector]) -> Vector:
        """Sum of m u x v, with v the velocity that a turning and a travel give each place."""
        omega, travel = way
        trace = self.spread[0][0] + self.spread[1][1] + self.spread[2][2]
        turned = minus(times(trace, omega), apply(transposed(self.spread), omega))
        return plus(turned, cross(self.momentum, travel))


def flow_of(mass: RigidMass, omega: Vector) -> Flow:
    """Flow of one body that turns about the point."""
    i = mass.turning
    half = 0.5 * (i[0][0] + i[1][1] + i[2][2])
    moments = [[(half if a == b else 0.0) - i[a][b] for b in range(3)] for a in range(3)]
    columns = [list(cross(omega, (m[0], m[1], m[2]))) for m in moments]
    return Flow(cross(omega, mass.first), transposed(columns))


@dataclass(frozen=True)
class Reach:
    """Forces that keep their directions in space, and their places."""

    force: Vector = ZERO
    spread: Matrix | None = None

    def plus(self, other: Reach) -> Reach:
        if self.spread is None or other.spread is None:
            return self if other.spread is None else other
        return Reach(plus(self.force, other.force), total(self.spread, other.spread))

    def out(self, passage: Passage) -> Reach:
        """The same in the axes and about the origin of the parent."""
        if self.spread is None:
            return self
        force = passage.out(self.force)
        return Reach(force, total(matrix_out(passage, self.spread), outer(passage.origin, force)))

    @property
    def moment(self) -> Vector:
        """About the point."""
        s = self.spread or NONE
        return (s[1][2] - s[2][1], s[2][0] - s[0][2], s[0][1] - s[1][0])

    def moved(self, way: tuple[Vector, Vector]) -> Vector:
        """Sum of v x f, with v what a turning and a travel do to each place."""
        if self.spread is None:
            return ZERO
        omega, travel = way
        trace = self.spread[0][0] + self.spread[1][1] + self.spread[2][2]
        turned = minus(apply(self.spread, omega), times(trace, omega))
        return plus(turned, cross(travel, self.force))


def outer(a: Vector, b: Vector) -> Matrix:
    """Products of the components of two vectors."""
    return [[x * y for y in b] for x in a]


def total(a: Matrix, b: Matrix) -> Matrix:
    """Sum of two matrices."""
    return [
        [x + y for x, y in zip(row, other, strict=True)] for row, other in zip(a, b, strict=True)
    ]


def matrix_out(passage: Passage, m: Matrix) -> Matrix:
    """A matrix of second moments in the axes of the parent."""
    for step in passage.steps:
        m = m if isinstance(step, Shift) else step.general(m)
    return m

"""The modes of a body let go one after the other, into what hangs on its node: Woodbury's identity.

With m the masses of the modes, U what they take from the frame, N the ways of a node and P the inertia that it carries,

    Z = X - N^T m^-1 U,   c = N^T m^-1 f,   P~ = (P^-1 + N^T m^-1 N)^-1
    A' = A - U^T m^-1 U + Z^T P~ Z,   p' = p + U^T m^-1 f + Z^T P~ c

where X takes the acceleration of the frame to the node, and A is without what hangs there. Each mode takes one rank of
P, P - P n (m + n.P n)^-1 (P n)^T, whose divisor is positive whatever P is. Nothing is as large as the number of modes.

Source: Jain and Rodriguez 1992; Sherman and Morrison 1950.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.expressions.dag import Expr
from codegen.spatial.algebra import Inertia, Matrix, Value, Wrench, skew
from codegen.spatial.innovations import Hung
from codegen.spatial.modes import Modes
from codegen.system.vectors import Vector, plus

SIX = range(6)


class Woodbury:
    """The modes of one link with one node that carries something, and masses that are each a mode's own."""

    def __init__(self, modes: Modes, hung: Hung, force: Sequence[Value]) -> None:
        self.graph = modes.graph
        self._node, self._carried = hung
        self._inverse = [1.0 / row[i] for i, row in enumerate(modes.mass)]
        self._force = list(force)
        self._pushes = [[*push.moment, *push.force] for push in modes.pushes]
        self._ways = [[*turn, *move] for turn, move in self._node.ways]
        self._softened: Matrix = []
        self._across: Matrix = []
        self._driven: list[Value] = []

    @staticmethod
    def takes(modes: Modes) -> bool:
        """Return whether no mode has mass in common with another one."""
        n = range(len(modes.mass))
        return all(modes.mass[i][j] == 0.0 for i in n for j in n if i != j)

    def let_go(self, inertia: Inertia, pull: Wrench) -> tuple[Inertia, Wrench]:
        """Let the amplitudes follow: returns the inertia and the wrench that the link has left."""
        graph, modes = self.graph, list(enumerate(self._inverse))
        self._softened = self._soft()
        carried = _shift(self._node.shift.origin)
        self._across = [
            [
                graph.total(
                    [
                        (1.0, carried[k][j]),
                        *((-m, self._ways[i][k] * self._pushes[i][j]) for i, m in modes),
                    ]
                )
                for j in SIX
            ]
            for k in SIX
        ]
        self._driven = [
            graph.total((m, self._ways[i][k] * self._force[i]) for i, m in modes) for k in SIX
        ]
        held = [[self._row(self._softened[k], self._column(j)) for j in SIX] for k in SIX]
        driven = [self._row(self._softened[k], self._driven) for k in SIX]

        def left(value: Value, i: int, j: int) -> Expr:
            taken = ((-m, self._pushes[n][i] * self._pushes[n][j]) for n, m in modes)
            kept = ((1.0, self._across[k][i] * held[k][j]) for k in SIX)
            return graph.total([(1.0, value), *taken, *kept])

        def gained(j: int) -> Expr:
            pushed = ((m, self._pushes[n][j] * self._force[n]) for n, m in modes)
            kept = ((1.0, self._across[k][j] * driven[k]) for k in SIX)
            return graph.total([*pushed, *kept])

        moment, force = (gained(0), gained(1), gained(2)), (gained(3), gained(4), gained(5))
        return inertia.changed(left), Wrench(plus(pull.moment, moment), plus(pull.force, force))

    def accelerations(self, alpha: Vector, a: Vector) -> list[Expr]:
        """Accelerations of the amplitudes, from those of the frame."""
        graph, at = self.graph, (*alpha, *a)
        moved = [
            graph.total([(1.0, self._driven[k]), *((1.0, self._across[k][j] * at[j]) for j in SIX)])
            for k in SIX
        ]
        handed = [self._row(row, moved) for row in self._softened]
        return [
            graph.lift(m * graph.total([
                (1.0, self._force[i]),
                *((-1.0, self._pushes[i][j] * at[j]) for j in SIX),
                *((-1.0, self._ways[i][k] * handed[k]) for k in SIX),
            ]))
            for i, m in enumerate(self._inverse)
        ]  # fmt: skip

    def _soft(self) -> Matrix:
        """P~: what the node carries, seen through the modes."""
        of = self._carried
        soft: Matrix = [[0.0] * 6 for _ in SIX]
        for i in range(3):
            for j in range(3):
                soft[i][j], soft[3 + i][3 + j] = of.turning[i][j], of.moving[i][j]
                soft[i][3 + j] = soft[3 + j][i] = of.coupling[i][j]
        for way, inverse in zip(self._ways, self._inverse, strict=True):
            felt = [self._row(row, way) for row in soft]
            gain = 1.0 / (1.0 / inverse + self._row(felt, way))
            scaled = [self.graph.lift(gain * e) for e in felt]
            for i in SIX:
                for j in range(i, 6):
                    soft[i][j] = soft[j][i] = soft[i][j] - felt[i] * scaled[j]
        return soft

    def _row(self, row: Sequence[Value], column: Sequence[Value]) -> Expr:
        return self.graph.total((1.0, a * b) for a, b in zip(row, column, strict=True))

    def _column(self, j: int) -> list[Value]:
        return [row[j] for row in self._across]


def _shift(r: Vector) -> Matrix:
    """Angular and linear acceleration of a place at r, from those of the origin."""
    turned, found = skew(r), []
    for i in SIX:
        row: list[Value] = [float(i == j) for j in SIX]
        if i > 2:
            row[:3] = [-e for e in turned[i - 3]]
        found.append(row)
    return found

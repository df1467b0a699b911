"""The modes of a body among articulated inertias: they are let go before the joint is, as one more joint.

With U the wrench that each unit of acceleration of an amplitude takes and D what the amplitudes resist, both of the
body and of all that hangs on its nodes,

    D eta'' + U^T a = f,   A' = A - U D^-1 U^T,   p' = p + U D^-1 f

where a is the acceleration of the frame. A node adds N^T P N to D and P N to U: N are the ways of the node, P the
articulated inertia of what it carries. D is factored here, at a cost that grows with the cube of the modes;
`woodbury.py` has the same with the square or less, and `bent.py` takes what has fewer operations.

Source: innovations factorisation, Rodriguez, Jain and Kreutz-Delgado 1991; with modes Jain and Rodriguez 1992.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.expressions.dag import Expr
from codegen.spatial.algebra import Inertia, Value, Wrench
from codegen.spatial.factors import Factor, backwards, factored, forwards
from codegen.spatial.modes import Modes
from codegen.spatial.node import NodeMotion
from codegen.system.vectors import Vector, dot, plus

Hung = tuple[
    NodeMotion, Inertia
]  # what hangs on a node: its inertia about the node, in the axes of the frame


class Whole:
    """Mass of the modes of one link, and what their accelerations take, with all that hangs on its nodes."""

    def __init__(self, modes: Modes) -> None:
        self.graph = modes.graph
        self.pushes = list(modes.pushes)
        self.mass: list[list[Value]] = [list(row) for row in modes.mass]

    def carry(self, node: NodeMotion, inertia: Inertia) -> None:
        """Add what hangs on a node: its inertia about the node, in the axes of the frame."""
        n = range(len(self.mass))
        held = [inertia.times(*way) for way in node.ways]
        for i in n:
            turn, move = node.ways[i]
            for j in range(i, len(self.mass)):
                share = dot(turn, held[j].moment) + dot(move, held[j].force)
                self.mass[i][j] = self.mass[j][i] = self.graph.lift(self.mass[i][j] + share)
            self.pushes[i] = self.pushes[i].plus(node.shift.wrench_out(held[i]))


class Explicit(Whole):
    """The modes of one link let go by a factor of all that they resist."""

    def __init__(self, modes: Modes, hung: Sequence[Hung], force: Sequence[Value]) -> None:
        super().__init__(modes)
        self.force = list(force)
        self._hung = hung
        self._factor: Factor = ([], [])
        self._columns: list[list[Value]] = []
        self._right: list[Value] = []

    def let_go(self, inertia: Inertia, pull: Wrench) -> tuple[Inertia, Wrench]:
        """Let the amplitudes follow: returns the inertia and the wrench that the link has left."""
        graph = self.graph
        for node, carried in self._hung:
            self.carry(node, carried)
            inertia = inertia.plus(node.shift.inertia_out(carried))
        self._factor = factored(self.mass)
        inverse = self._factor[1]
        rows = [[*push.moment, *push.force] for push in self.pushes]
        self._columns = [forwards(self._factor, [row[k] for row in rows]) for k in range(6)]
        self._right = forwards(self._factor, self.force)
        scaled = [
            [graph.lift(value * d) for value, d in zip(column, inverse, strict=True)]
            for column in self._columns
        ]

        def less(value: Value, i: int, j: int) -> Expr:
            pairs = zip(self._columns[i], scaled[j], strict=True)
            return graph.total([(1.0, value), *((-1.0, a * b) for a, b in pairs)])

        def gained(k: int) -> Expr:
            pairs = zip(scaled[k], self._right, strict=True)
            return graph.total((1.0, a * b) for a, b in pairs)

        moment, force = (gained(0), gained(1), gained(2)), (gained(3), gained(4), gained(5))
        return inertia.changed(less), Wrench(plus(pull.moment, moment), plus(pull.force, force))

    def accelerations(self, alpha: Vector, a: Vector) -> list[Expr]:
        """Return the accelerations of the amplitudes from those of the frame."""
        graph, inverse = self.graph, self._factor[1]
        rest: list[Value] = []
        for i, value in enumerate(self._right):
            taken = [(-1.0, self._columns[k][i] * (*alpha, *a)[k]) for k in range(6)]
            rest.append(graph.total([(1.0, value), *taken]) * inverse[i])
        return [graph.lift(e) for e in backwards(self._factor, rest)]

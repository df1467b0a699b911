"""A node as a link: where it is and how it moves beside its frame, by the amplitudes of the body that bends.

The rotation is that of `codegen.topology.bending`. Of a tilt by t, in the axes of the frame,

    omega = c t' - c k (t.t') t + k t x t',    c = (1 + t^2)^-1/2,  k = c^2 / (1 + c)

and of a turn about an axis a by atan(x): c^2 x' a with the same c of x.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from codegen.expressions.dag import Expr, Graph
from codegen.spatial.algebra import ZERO, Matrix, Passage, Rotation, Shift, Turn, Value, apply, skew
from codegen.system.vectors import Vector, cross, dot, plus, times
from codegen.topology.bending import BentNode

Step = Turn | Rotation | Shift


@dataclass
class NodeMotion:
    """A node beside its frame, in the axes of the frame.

    Attributes
    ----------
    turn : Passage
        From the node's axes to the frame's, about the node.
    shift : Passage
        From the node to the frame's origin.
    ways : list of (Vector, Vector)
        Angular and linear acceleration of the node for one unit of that of each amplitude.
    rate, slide : Vector
        Angular velocity, and velocity, beside the frame.
    bent : Vector
        What the rates add to the angular acceleration beside the frame.
    """

    turn: Passage
    shift: Passage
    ways: list[tuple[Vector, Vector]]
    rate: Vector
    slide: Vector
    bent: Vector

    @property
    def passage(self) -> Passage:
        return Passage([*self.turn.steps, *self.shift.steps])


def node_motion(graph: Graph, node: BentNode, q: list[Expr], qd: list[Expr]) -> NodeMotion:
    """The motion of a node at these amplitudes and rates."""

    def by_modes(rows: np.ndarray, values: list[Expr], at: np.ndarray | None = None) -> Vector:
        found = []
        for k in range(3):
            terms: list[tuple[float, Value]] = [
                (float(w), v) for w, v in zip(rows[k], values, strict=True)
            ]
            found.append(graph.total([*terms, (1.0, 0.0 if at is None else float(at[k]))]))
        return (found[0], found[1], found[2])

    axis = np.zeros(3) if node.axis is None else node.axis
    across = np.eye(3) - np.outer(axis, axis)
    tilts, twists = across @ node.turns, axis @ node.turns
    place, slide = by_modes(node.moves, q, node.at), by_modes(node.moves, qd)
    tilt = _Tilt(graph, by_modes(tilts, q), by_modes(tilts, qd))
    twist, twist_rate = (
        graph.total((float(w), v) for w, v in zip(twists, values, strict=True))
        for values in (q, qd)
    )
    steps: list[Step] = []
    ways: list[tuple[Vector, Vector]] = [
        (tilt.way(_column(tilts, i)), _column(node.moves, i)) for i in range(len(q))
    ]
    rate, bent = tilt.rate(), tilt.bent()
    if not twist.is_zero:
        c = _cosine(graph, twist * twist)
        steps.append(_turn(axis, c, twist * c))
        a = apply(tilt.matrix(), tuple(map(float, axis)))  # type: ignore[arg-type]
        size = c * c
        speed = size * twist_rate
        ways = [
            (plus(way, times(float(w) * size, a)), moved)
            for w, (way, moved) in zip(twists, ways, strict=True)
        ]
        # a turns with the tilt; (c^2)' = -2 x x' c^4
        bent = plus(bent, times(speed, cross(rate, a)))
        bent = plus(bent, times(-2.0 * (twist * (speed * speed)), a))
        rate = plus(rate, times(speed, a))
    steps.append(Rotation(tilt.matrix()))
    return NodeMotion(Passage(steps), Passage([Shift(place)]), ways, rate, slide, bent)


class _Tilt:
    """A tilt t, its rate, and what follows from both; nothing where it is zero."""

    def __init__(self, graph: Graph, t: Vector, rate: Vector) -> None:
        self.t, self.t_rate, self.graph = t, rate, graph
        self.is_none = all(graph.lift(e).is_zero for e in t)
        if not self.is_none:
            self.c = _cosine(graph, dot(t, t))
            self.k = self.c * self.c / (1.0 + self.c)
            self.along = dot(t, rate)

    def matrix(self) -> Matrix:
        if self.is_none:
            return [[float(i == j) for j in range(3)] for i in range(3)]
        turn = skew(self.t)
        return [
            [
                self.c * (turn[i][j] + float(i == j)) + self.k * (self.t[i] * self.t[j])
                for j in range(3)
            ]
            for i in range(3)
        ]

    def way(self, turned: Vector) -> Vector:
        """Angular velocity by a rate of t."""
        if self.is_none:
            return ZERO
        c, k, t = self.c, self.k, self.t
        back = times(-(c * k) * dot(t, turned), t)
        return plus(plus(times(c, turned), back), times(k, cross(t, turned)))

    def rate(self) -> Vector:
        return self.way(self.t_rate)

    def bent(self) -> Vector:
        """The share of the rates in the angular acceleration."""
        if self.is_none:
            return ZERO
        c, k, t, rate = self.c, self.k, self.t, self.t_rate
        dc = -1.0 * (c * c * c) * self.along
        dk = c * (2.0 + c) / ((1.0 + c) * (1.0 + c)) * dc
        part = (dc * k + c * dk) * self.along + c * k * dot(rate, rate)
        found = plus(times(dc - c * k * self.along, rate), times(-1.0 * part, t))
        return plus(found, times(dk, cross(t, rate)))


def _cosine(graph: Graph, square: Value) -> Expr:
    """1 / sqrt(1 + square)."""
    return graph.reciprocal(graph.call("sqrt", 1.0 + graph.lift(square)))


def _turn(axis: np.ndarray, c: Expr, s: Expr) -> Turn | Rotation:
    for k in (0, 2):
        if abs(axis[k]) == 1.0:
            return Turn(k, c, float(axis[k]) * s)
    a = tuple(map(float, axis))
    turn = skew(a)  # type: ignore[arg-type]
    return Rotation(
        [
            [c * float(i == j) + s * turn[i][j] + (1.0 - c) * (a[i] * a[j]) for j in range(3)]
            for i in range(3)
        ]
    )


def _column(m: np.ndarray, i: int) -> Vector:
    return (float(m[0, i]), float(m[1, i]), float(m[2, i]))


def moved_by(node: NodeMotion, accelerations: Sequence[Value]) -> tuple[Vector, Vector]:
    """Angular and linear acceleration of a node by those of the amplitudes, in the axes of its frame."""
    alpha, a = ZERO, ZERO
    for (turn, move), qdd in zip(node.ways, accelerations, strict=True):
        alpha, a = plus(alpha, times(qdd, turn)), plus(a, times(qdd, move))
    return alpha, a

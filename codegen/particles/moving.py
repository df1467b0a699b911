"""Particles of links and what is fixed on these, with rates and accelerations, over the coordinates of particles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from codegen.expressions.dag import Expr, Graph
from codegen.particles.four import Four
from codegen.spatial.algebra import ZERO
from codegen.system.vectors import Vector, cross, dot, plus, times
from codegen.topology.motion import Motion

Triple = tuple[Vector, Vector, Vector]  # value, rate, acceleration
Scalars = tuple[Any, Any, Any]
Own = Callable[["Moving", int, int], Triple]
STILL: Triple = (ZERO, ZERO, ZERO)


class Moving:
    """Links from the ground outwards.

    Parameters
    ----------
    own : callable
        Gives particle k of link n, one that is a coordinate, when all particles before it are there.

    Attributes
    ----------
    spots : list of list of Triple
        The four particles of each link.
    """

    def __init__(self, graph: Graph, motion: Motion, fours: Sequence[Four], own: Own) -> None:
        self.graph, self.motion, self.fours = graph, motion, fours
        self.spots: list[list[Triple]] = []
        self._edges: list[tuple[Triple, Triple, Triple]] = []
        for n, (link, four) in enumerate(zip(motion.tree.links, fours, strict=True)):
            here: list[Triple] = []
            self.spots.append(here)
            for k in (0, 1, 3):
                if k in four.own:
                    here.append(own(self, n, k))
                elif link.kind == "slide":  # every direction is what it is on the parent
                    way = self.carried(n, four.places[k] - four.places[0], head=0.0)
                    here.append(self.sum([(1.0, here[0]), (1.0, way)]))
                else:
                    here.append(self.carried(n, four.places[k], head=1.0))
            first, second = (less(spot, here[0]) for spot in here[1:])
            self._edges.append((first, second, crossed(first, second)))
            here.insert(2, self.place(n, four.places[2], head=1.0))

    def place(self, n: int, at: ArrayLike, *, head: float) -> Triple:
        """A point (head 1) or direction (0) of a link."""
        if n < 0:
            x, y, z = map(float, np.asarray(at, float))
            return (x, y, z), ZERO, ZERO
        four = self.fours[n]
        shares = four.shares(np.asarray(at, float) - head * four.places[0])
        parts = [*zip(map(float, shares), self._edges[n], strict=True)]
        return self.sum([(head, self.spots[n][0]), *parts])

    def carried(self, n: int, at: ArrayLike, *, head: float) -> Triple:
        """A point or direction of a link where its joint has it as built, on what it hangs on."""
        parent = self.motion.tree.links[n].parent
        frame = self.motion.frames[n]
        if parent >= 0:
            frame = self.motion.inverse[parent] @ frame
        built = (frame @ np.array([head, *np.asarray(at, float)]))[1:]
        return self.place(parent, np.where(np.abs(built) < 1e-14, 0.0, built), head=head)

    def sum(self, parts: Iterable[tuple[float, Triple]]) -> Triple:
        """Sum of vectors with a weight each."""
        kept = [(weight, part) for weight, part in parts if weight]

        def of(order: int) -> Vector:
            x, y, z = (
                self.graph.total((weight, part[order][axis]) for weight, part in kept)
                for axis in range(3)
            )
            return (x, y, z)

        return of(0), of(1), of(2)

    def turn(self, n: int) -> tuple[Scalars, Scalars]:
        """Cosine and sine of the turn of a pin from where it was built, with rates and accelerations."""
        four = self.fours[n]
        axis, arm = four.edges[:, 0], four.edges[:, 1]
        axis = axis / np.linalg.norm(axis)
        across = arm - (axis @ arm) * axis
        here = self.place(n, across / np.linalg.norm(across), head=0.0)
        before = self.carried(n, across / np.linalg.norm(across), head=0.0)
        beside = self.carried(n, np.cross(axis, across) / np.linalg.norm(across), head=0.0)
        return dotted(here, before), dotted(here, beside)

    def travel(self, n: int) -> Scalars:
        """The travel of a slide from where it was built, with rate and acceleration."""
        way = less(self.spots[n][0], self.carried(n, self.fours[n].places[0], head=1.0))
        return dotted(way, self.carried(n, (0.0, 0.0, 1.0), head=0.0))


def less(a: Triple, b: Triple) -> Triple:
    """The difference of two."""
    x, y, z = (plus(one, times(-1.0, other)) for one, other in zip(a, b, strict=True))
    return x, y, z


def crossed(a: Triple, b: Triple) -> Triple:
    """The cross product of two."""
    bent = plus(cross(a[2], b[0]), cross(a[0], b[2]))
    return (
        cross(a[0], b[0]),
        plus(cross(a[1], b[0]), cross(a[0], b[1])),
        plus(bent, times(2.0, cross(a[1], b[1]))),
    )


def dotted(a: Triple, b: Triple) -> Scalars:
    """The product of two with its rate and acceleration."""
    return (
        dot(a[0], b[0]),
        dot(a[1], b[0]) + dot(a[0], b[1]),
        dot(a[2], b[0]) + dot(a[0], b[2]) + 2.0 * dot(a[1], b[1]),
    )


def measured_rate(turn: tuple[Scalars, Scalars]) -> tuple[Expr, Expr]:
    """Rate and acceleration of an angle, from those of its cosine and sine."""
    c, s = turn
    return c[0] * s[1] - s[0] * c[1], c[0] * s[2] - s[0] * c[2]

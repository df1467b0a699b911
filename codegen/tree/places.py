"""Points, directions and the file's coordinates over joint coordinates, with their rates and accelerations."""

from __future__ import annotations

import numpy as np

from codegen.expressions.dag import Expr
from codegen.system.vectors import Vector, cross, plus
from codegen.topology.motion import Motion
from codegen.tree.chain import Chain
from codegen.tree.spatial import ZERO

Triple = tuple[Vector, Vector, Vector]  # value, rate, acceleration


class Places:
    """Points and directions of links in the axes of the ground, with rates and accelerations, on demand."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self._alphas: dict[int, Vector] = {}
        self._origins: dict[int, Triple] = {}

    def out(self, link: int, v: Vector) -> Vector:
        """A vector of a link in the axes of the ground."""
        while link >= 0:
            at = self.chain.links[link]
            v, link = at.passage.out(v), at.parent
        return v

    def into(self, link: int, v: Vector) -> Vector:
        """A vector of the ground in the axes of a link."""
        path = []
        while link >= 0:
            path.append(link)
            link = self.chain.links[link].parent
        for n in reversed(path):
            v = self.chain.links[n].passage.into(v)
        return v

    def origin(self, n: int) -> Triple:
        """Of a link, its rate and its acceleration, in the axes of the ground."""
        if n < 0:
            return ZERO, ZERO, ZERO
        if n not in self._origins:
            link = self.chain.links[n]
            up = link.parent
            value, rate, acceleration = self.origin(up)
            r = link.passage.origin
            omega = self.chain.links[up].omega if up >= 0 else ZERO
            moved = cross(omega, r) if up >= 0 else ZERO
            if link.kind == "slide":
                moved = plus(moved, link.passage.out((0.0, 0.0, link.qd[0])))
            elif link.kind == "free":
                moved = plus(moved, (link.qd[0], link.qd[1], link.qd[2]))
            bent = link.passage.out(link.bias_a)
            if up >= 0:
                bent = plus(bent, cross(self.alpha(up), r))
            if link.kind == "slide":
                bent = plus(bent, link.passage.out((0.0, 0.0, link.qdd[0])))
            elif link.kind == "free":
                bent = plus(bent, (link.qdd[0], link.qdd[1], link.qdd[2]))
            self._origins[n] = (
                plus(value, self.out(up, r)),
                plus(rate, self.out(up, moved)),
                plus(acceleration, self.out(up, bent)),
            )
        return self._origins[n]

    def alpha(self, n: int) -> Vector:
        """Angular acceleration of a link, in its axes."""
        if n < 0:
            return ZERO
        if n not in self._alphas:
            link = self.chain.links[n]
            before = link.passage.into(self.alpha(link.parent))
            own: Vector = ZERO
            if link.kind == "turn":
                own = (0.0, 0.0, link.qdd[0])
            elif link.kind in ("ball", "free"):
                own = self.chain.turning_of(link)
            self._alphas[n] = plus(plus(before, link.bias_alpha), own)
        return self._alphas[n]

    def place(self, n: int, at: Vector, *, is_point: bool) -> Triple:
        """A point or direction of a link."""
        if n < 0:
            return at, ZERO, ZERO
        omega = self.chain.links[n].omega
        rate = cross(omega, at)
        bent = plus(cross(self.alpha(n), at), cross(omega, rate))
        found = tuple(self.out(n, v) for v in (at, rate, bent))
        if is_point:
            found = tuple(plus(a, b) for a, b in zip(self.origin(n), found, strict=True))
        return found  # type: ignore[return-value]


class Coordinates:
    """The file's coordinates over joint coordinates, each found when it is asked for."""

    def __init__(self, motion: Motion, chain: Chain) -> None:
        self.motion, self.chain, self.graph = motion, chain, chain.graph
        self.places = Places(chain)
        self._kept: dict[tuple[int, tuple[float, ...]], Triple] = {}
        self._moves: dict[
            Expr, tuple[Expr, int]
        ] = {}  # variable: coordinate, and how often it is derived
        for c in motion.tree.system.coordinates:
            self._moves |= {c.q: (c.q, 0), c.qd: (c.q, 1)}
        self._own = [
            own for link in chain.links for own in zip(link.q, link.qd, link.qdd, strict=True)
        ]

    def of(self, var: Expr, part: int) -> Expr:
        """Value (0), rate or acceleration (2) of a coordinate."""
        if var in self.motion.tree.scalars:
            weights, offset = self.motion.tree.scalars[var]
            sums = self.graph.total((k, self._own[i][part]) for i, k in weights.items())
            return sums + offset if part == 0 else sums
        n, place, axis = self.motion.on_links[var]
        return self.graph.lift(self._at(n, place)[part][axis])

    def put(self, e: Expr) -> Expr:
        """An expression of the file over joint coordinates."""
        moves = {v: self.of(*self._moves[v]) for v in self.graph.variables(e) if v in self._moves}
        return self.graph.substitute(e, moves) if moves else e

    def _at(self, n: int, place: np.ndarray) -> Triple:
        key = (n, tuple(float(v) for v in place))
        if key not in self._kept:
            head, *at = key[1]
            self._kept[key] = self.places.place(n, (at[0], at[1], at[2]), is_point=head == 1.0)
        return self._kept[key]

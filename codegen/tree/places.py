"""Points, directions and the file's coordinates over joint coordinates, with their rates and accelerations."""

from __future__ import annotations

from collections.abc import Container, Mapping

import numpy as np

from codegen.expressions.dag import Expr
from codegen.spatial.algebra import ZERO
from codegen.spatial.node import moved_by
from codegen.system.quantities import Coordinate
from codegen.system.vectors import Vector, cross, dot, plus, times
from codegen.topology.motion import Motion
from codegen.tree.chain import Chain, ChainLink, Links

Triple = tuple[Vector, Vector, Vector]  # value, rate, acceleration


class Places:
    """Points and directions of links in the axes of the ground, with rates and accelerations, on demand."""

    def __init__(self, chain: Links) -> None:
        self.chain = chain
        self._axes: dict[int, tuple[Vector, Vector, Vector]] = {}
        self._alphas: dict[int, Vector] = {}
        self._origins: dict[int, Triple] = {}

    def begin(self, n: int, axes: tuple[Vector, Vector, Vector], origin: Triple) -> None:
        """Say where a link is, so that nothing below it is asked."""
        self._axes[n], self._origins[n], self._alphas[n] = axes, origin, ZERO

    def axes(self, n: int) -> tuple[Vector, Vector, Vector]:
        """The axes of the ground in the axes of a link."""
        if n < 0:
            return (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
        for k in self._missing(n, self._axes):
            link = self.chain.links[k]
            x, y, z = (link.passage.into(way) for way in self.axes(link.parent))
            self._axes[k] = (x, y, z)
        return self._axes[n]

    def out(self, n: int, v: Vector) -> Vector:
        """A vector of a link in the axes of the ground."""
        x, y, z = (dot(way, v) for way in self.axes(n))
        return (x, y, z)

    def into(self, n: int, v: Vector) -> Vector:
        """A vector of the ground in the axes of a link."""
        x, y, z = (times(part, way) for part, way in zip(v, self.axes(n), strict=True))
        return plus(plus(x, y), z)

    def origin(self, n: int) -> Triple:
        """Return the origin of a link with its rate and its acceleration, in the axes of the ground."""
        for k in self._missing(n, self._origins):
            link = self.chain.links[k]
            up = link.parent
            r, omega = link.passage.origin, self.chain.links[up].omega if up >= 0 else ZERO
            moved, bent = cross(omega, r), link.passage.out(link.bias_a)
            bent = plus(bent, cross(self.alpha(up), r))
            if link.node is not None:
                moved = plus(moved, link.node.slide)
                bent = plus(bent, self._by_modes(link)[1])
            if link.kind in ("slide", "screw"):
                moved = plus(moved, link.passage.out(link.way(link.qd[0])[1]))
                bent = plus(bent, link.passage.out(link.way(link.qdd[0])[1]))
            elif link.kind == "free":
                moved = plus(moved, (link.qd[0], link.qd[1], link.qd[2]))
                bent = plus(bent, (link.qdd[0], link.qdd[1], link.qdd[2]))
            value, rate, acceleration = self._origins[up] if up >= 0 else (ZERO, ZERO, ZERO)
            self._origins[k] = (
                plus(value, self.out(up, r)),
                plus(rate, self.out(up, moved)),
                plus(acceleration, self.out(up, bent)),
            )
        return self._origins[n] if n >= 0 else (ZERO, ZERO, ZERO)

    def alpha(self, n: int) -> Vector:
        """Angular acceleration of a link, in its axes."""
        for k in self._missing(n, self._alphas):
            link = self.chain.links[k]
            up = self._alphas[link.parent] if link.parent >= 0 else ZERO
            own: Vector = ZERO
            if link.kind in ("turn", "screw"):
                own = (0.0, 0.0, link.qdd[0])
            elif link.kind in ("ball", "free"):
                own = self.chain.turning_of(link)
            elif link.node is not None:
                own = link.passage.into(self._by_modes(link)[0])
            self._alphas[k] = plus(plus(link.passage.into(up), link.bias_alpha), own)
        return self._alphas[n] if n >= 0 else ZERO

    def _by_modes(self, link: ChainLink) -> tuple[Vector, Vector]:
        """Accelerations of a node by those of the amplitudes, in the axes of its frame."""
        modes = self.chain.links[link.parent].modes
        assert modes is not None
        assert link.node is not None
        return moved_by(link.node, modes.qdd)

    def _missing(self, n: int, kept: Container[int]) -> list[int]:
        """Links from the ground to this one that are not kept yet."""
        path = []
        while n >= 0 and n not in kept:
            path.append(n)
            n = self.chain.links[n].parent
        return path[::-1]

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
    """The file's coordinates over joint coordinates, each found when it is asked for.

    Parameters
    ----------
    own : dict of Expr to Coordinate, optional
        Those of the file that no link carries, as they are here.
    """

    def __init__(
        self,
        motion: Motion,
        chain: Chain,
        places: Places,
        own: Mapping[Expr, Coordinate] | None = None,
    ) -> None:
        self.own = own or {}
        self.motion, self.chain, self.graph = motion, chain, chain.graph
        self.places = places
        self._kept: dict[tuple[int, tuple[float, ...]], Triple] = {}
        self._moves: dict[
            Expr, tuple[Expr, int]
        ] = {}  # variable: coordinate, and how often it is derived
        for c in motion.tree.system.coordinates:
            turned = self.graph.var(f"qdd {c.index}")
            self._moves |= {c.q: (c.q, 0), c.qd: (c.q, 1), turned: (c.q, 2)}
        self._joints: dict[int, tuple[Expr, Expr, Expr]] = {}
        for link in chain.links:
            self._joints |= zip(
                link.coordinates, zip(link.q, link.qd, link.qdd, strict=True), strict=True
            )
            if link.modes is not None:
                m = link.modes
                self._joints |= zip(m.indices, zip(m.q, m.qd, m.qdd, strict=True), strict=True)
        self._defined: dict[Expr, tuple[Expr, Expr, Expr]] = {}

    def of(self, var: Expr, part: int) -> Expr:
        """Value (0), rate or acceleration (2) of a coordinate."""
        if var in self.own:
            kept = self.own[var]
            return (kept.q, kept.qd, self.graph.var(f"qdd {kept.index}"))[part]
        if var in self.motion.tree.scalars:
            weights, offset = self.motion.tree.scalars[var]
            sums = self.graph.total((k, self._joints[i][part]) for i, k in weights.items())
            return sums + offset if part == 0 else sums
        if var in self.motion.tree.system.defined:
            return self._of_defined(var)[part]
        n, place, axis = self.motion.on_links[var]
        return self.graph.lift(self._at(n, place)[part][axis])

    def _of_defined(self, var: Expr) -> tuple[Expr, Expr, Expr]:
        """A coordinate that a row defines by others, with rate and acceleration."""
        if var not in self._defined:
            graph, (e, _) = self.graph, self.motion.tree.system.defined[var]
            inside = graph.variables(e)
            slopes = {v: graph.diff(e, v) for v in inside}
            rates = {v: self.of(v, 1) for v in inside}
            rate = graph.total((1.0, self.put(slopes[v]) * rates[v]) for v in inside)
            bent = [(1.0, self.put(slopes[v]) * self.of(v, 2)) for v in inside]
            for v in inside:
                turned = graph.total(
                    (1.0, self.put(graph.diff(slopes[v], w)) * rates[w]) for w in inside
                )
                bent.append((1.0, turned * rates[v]))
            self._defined[var] = self.put(e), rate, graph.total(bent)
        return self._defined[var]

    def index(self, var: Expr) -> int | None:
        """The number here of a coordinate of the file that is one joint's, or that no link carries."""
        if var in self.own:
            return self.own[var].index
        joints = self.motion.tree.coordinates
        return next((i for i, c in enumerate(joints) if c.scalar is var), None)

    def on(self, link: int, place: np.ndarray, axis: int) -> Expr:
        """A component of a place on a link."""
        return self.graph.lift(self._at(link, place)[0][axis])

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

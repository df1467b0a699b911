"""Slopes of forces on the file's coordinates over joint coordinates: the file's own slopes between gradients.

    Q = B^T f(x, x'),   x' = B z',      -dQ/dz = -B^T (f_x B + f_x' B') - (dB^T/dz) f

The last term is that of forces that keep their directions while their places move: `reaches`, for
`codegen.closed_trees.slopes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from codegen.closed_trees.slopes import speed_of
from codegen.expressions.dag import Expr
from codegen.expressions.elimination import Entries
from codegen.spatial.algebra import ZERO
from codegen.spatial.quaternions import grown, length2
from codegen.spatial.rigid import Reach, outer
from codegen.system.vectors import Vector, cross, plus, times
from codegen.tree.chain import Chain, ChainLink
from codegen.tree.composite import ways
from codegen.tree.loads import pushed, undefined
from codegen.tree.places import Coordinates

Gradient = dict[int, Expr]  # by coordinates of the tree


def reaches(coordinates: Coordinates, given: Mapping[int, list[Expr]]) -> dict[int, Reach]:
    """Forces on places of links, about each link's origin in its axes."""
    found: dict[int, Reach] = {}
    for (n, (head, *at)), push in pushed(coordinates, given)[1].items():
        if n < 0:
            continue
        force = coordinates.places.into(n, push)
        place: Vector = (at[0], at[1], at[2])
        one = Reach(force if head == 1.0 else ZERO, outer(place, force))
        found[n] = found[n].plus(one) if n in found else one
    return found


def load_slopes(
    coordinates: Coordinates, given: Mapping[int, list[Expr]], rate_weight: float
) -> Entries:
    """The upper triangle of stiffness + c damping of forces, symmetrised, with their directions held.

    Parameters
    ----------
    given : dict of int to list of Expr
        Terms of the force on each coordinate of the file, by its number.
    rate_weight : float
        c, by which slopes over rates are weighed.
    """
    source, graph = coordinates.motion.tree.system, coordinates.graph
    gradients = Gradients(coordinates)
    places = {c.q: c for c in source.coordinates}
    rates = {c.qd: c for c in source.coordinates}
    slopes: dict[tuple[Expr, Expr], Expr] = {}
    turning: dict[tuple[Expr, Expr], Expr] = {}
    for index, terms in undefined(source, given).items():
        force, own = graph.total((1.0, e) for e in terms), source.coordinates[index].q
        for v in graph.variables(force):
            if v not in places and v not in rates:
                continue
            slope = coordinates.put(graph.diff(force, v))
            if slope.is_zero:
                continue
            other = places[v].q if v in places else rates[v].q
            weight = 1.0 if v in places else rate_weight
            slopes[own, other] = slopes.get((own, other), graph.zero) + weight * slope
            if v in rates:
                turning[own, other] = slope
    is_symmetric = all(slopes.get((b, a)) is e for (a, b), e in slopes.items())
    found: dict[tuple[int, int], list[tuple[float, Expr]]] = {}

    def meet(own: Expr, row: Gradient, *, is_even: bool) -> None:
        for i, left in gradients.of(own).places.items():
            for j, right in row.items():
                if not is_even or i <= j:
                    share = -1.0 if is_even or i == j else -0.5
                    found.setdefault((min(i, j), max(i, j)), []).append((share, left * right))

    for own in dict.fromkeys(a for a, _ in slopes):
        row = _row(graph, [(e, gradients.of(b).places) for (a, b), e in slopes.items() if a is own])
        meet(own, row, is_even=is_symmetric)
        row = _row(graph, [(e, gradients.of(b).rates) for (a, b), e in turning.items() if a is own])
        meet(own, row, is_even=False)
    return {key: graph.total(terms) for key, terms in found.items()}


def _row(graph, parts: list[tuple[Expr, Gradient]]) -> Gradient:
    """A sum of gradients, each times its slope."""
    terms: dict[int, list[tuple[float, Expr]]] = {}
    for slope, gradient in parts:
        for i, e in gradient.items():
            terms.setdefault(i, []).append((1.0, slope * e))
    return {i: graph.total(found) for i, found in terms.items()}


@dataclass(frozen=True)
class Slope:
    """Gradient of a coordinate of the file over those of the tree, and its rate."""

    places: Gradient
    rates: Gradient


class Gradients:
    """Gradients of the file's coordinates, found once each."""

    def __init__(self, coordinates: Coordinates) -> None:
        self._coordinates, self._graph = coordinates, coordinates.graph
        self._found: dict[tuple[int, tuple[float, ...]], list[Slope]] = {}

    def of(self, var: Expr) -> Slope:
        """Return the gradient of a coordinate of the file."""
        motion = self._coordinates.motion
        if var in self._coordinates.own:
            return Slope({self._coordinates.own[var].index: self._graph.one}, {})
        if var in motion.tree.scalars:
            weights, _ = motion.tree.scalars[var]
            return Slope({i: self._graph.const(k) for i, k in weights.items()}, {})
        n, place, axis = motion.on_links[var]
        return self.on(n, tuple(float(v) for v in place))[axis]

    def on(self, n: int, place: tuple[float, ...]) -> list[Slope]:
        """Return those of a place (1, point) or (0, direction) of a link along the three axes of the ground."""
        if (n, place) not in self._found:
            self._found[n, place] = self._walk(n, place)
        return self._found[n, place]

    def _walk(self, at: int, place: tuple[float, ...]) -> list[Slope]:
        chain, places = self._coordinates.chain, self._coordinates.places
        is_point = place[0] == 1.0
        rho: Vector = (place[1], place[2], place[3])
        moved = cross(chain.links[at].omega, rho) if at >= 0 else ZERO
        found = [Slope({}, {}) for _ in range(3)]
        while at >= 0:
            link = chain.links[at]
            for (i, way), (bent, slid) in zip(ways(chain, link), _turned(chain, link), strict=True):
                omega, travel = way
                shift = cross(omega, rho)
                swung = plus(cross(plus(cross(link.omega, omega), bent), rho), cross(omega, moved))
                if is_point:
                    shift = plus(shift, travel)
                    swung = plus(swung, plus(cross(link.omega, travel), slid))
                for axis, (value, rate) in enumerate(
                    zip(places.out(at, shift), places.out(at, swung), strict=True)
                ):
                    if not self._graph.lift(value).is_zero:
                        found[axis].places[i] = self._graph.lift(value)
                    if not self._graph.lift(rate).is_zero:
                        found[axis].rates[i] = self._graph.lift(rate)
            rho, moved = link.passage.out(rho), link.passage.out(moved)
            if is_point:
                rho = plus(rho, link.passage.origin)
                moved = plus(moved, speed_of(chain, link))
            at = link.parent
        return found


def _turned(chain: Chain, link: ChainLink) -> list[tuple[Vector, Vector]]:
    """Rates of the ways of a link's coordinates, as seen in its axes."""
    if link.kind not in ("ball", "free"):
        return [(ZERO, ZERO)] * len(link.coordinates)
    found: list[tuple[Vector, Vector]] = []
    for _, (_, travel) in ways(chain, link)[:-4]:
        found.append((ZERO, times(-1.0, cross(link.rate, travel))))
    size = 2.0 / length2(link.q[-4:])
    for k in range(4):
        unit = [chain.graph.const(float(part == k)) for part in range(4)]
        found.append((times(size, grown(link.qd[-4:], unit)), ZERO))
    return found

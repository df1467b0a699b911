"""Gradients of rows over the coordinates of a tree, and the part of their second derivatives that rates make.

    phi(x(z)):   phi_z = phi_x B,   phi'' = phi_z z'' + phi_x x'' + x'^T phi_xx x'

with x'' of joints that do not accelerate. Places have both link by link; the derivative of a row as it is written goes
through all links again for each coordinate.
"""

from __future__ import annotations

from codegen.closed_trees.load_slopes import Gradients
from codegen.expressions.dag import Expr
from codegen.system.quantities import RowSlopes
from codegen.topology.closing import Parted
from codegen.tree.composite import standing
from codegen.tree.places import Coordinates, Places


class RowsOverJoints:
    """Rows of a file over the coordinates of its tree, one after the other."""

    def __init__(self, coordinates: Coordinates) -> None:
        chain = standing(coordinates.chain)
        self._over, self._graph = coordinates, coordinates.graph
        self._gradients = Gradients(coordinates)
        self._still = Coordinates(coordinates.motion, chain, Places(chain), coordinates.own)
        self._none = {
            self._graph.var(f"qdd {c.index}"): self._graph.zero for c in coordinates.own.values()
        }

    def of_row(self, phi: Expr) -> RowSlopes:
        """Slopes of a row over the file's coordinates; guide inputs in it stand still."""
        graph, source = self._graph, self._over.motion.tree.system
        inside = [v for v in graph.variables(phi) if source.owner(v) is not None]
        slopes = {v: graph.diff(phi, v) for v in inside}
        gradient: dict[int, list[tuple[float, Expr]]] = {}
        bend: list[tuple[float, Expr]] = []
        for v, slope in slopes.items():
            here = self._over.put(slope)
            for i, e in self._gradients.of(v).places.items():
                gradient.setdefault(i, []).append((1.0, here * e))
            bend.append((1.0, here * self._bent(v)))
            for w in inside:
                turned = graph.diff(slope, w)
                if not turned.is_zero:
                    rates = self._over.of(v, 1) * self._over.of(w, 1)
                    bend.append((1.0, self._over.put(turned) * rates))
        return self._made(gradient, bend)

    def of_parted(self, part: Parted) -> RowSlopes:
        """Slopes of a component of a place that the tree has on its own link."""
        gradient: dict[int, list[tuple[float, Expr]]] = {}
        bend: list[tuple[float, Expr]] = []
        for v, k in part.weights.items():
            for i, e in self._gradients.of(v).places.items():
                gradient.setdefault(i, []).append((k, e))
            bend.append((k, self._bent(v)))
        place = tuple(float(x) for x in part.place)
        if part.link >= 0:
            for i, e in self._gradients.on(part.link, place)[part.axis].places.items():
                gradient.setdefault(i, []).append((-1.0, e))
            bend.append((-1.0, self._still.on(part.link, part.place, part.axis, 2)))
        return self._made(gradient, bend)

    def _bent(self, v: Expr) -> Expr:
        """Second derivative of a coordinate of the file where no joint accelerates."""
        e = self._still.of(v, 2)
        return self._graph.substitute(e, self._none) if self._none else e

    def _made(
        self, gradient: dict[int, list[tuple[float, Expr]]], bend: list[tuple[float, Expr]]
    ) -> RowSlopes:
        found = {i: self._graph.total(terms) for i, terms in sorted(gradient.items())}
        return RowSlopes({i: e for i, e in found.items() if not e.is_zero}, self._graph.total(bend))

"""Variables for all that loops over the links leave behind: where links are, how they move, what joints hand on.

Forces and outputs that ask for these are expressions over them; from the names of the variables follows which sweeps
have to run before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from codegen.expressions.dag import Expr, Graph
from codegen.spatial.algebra import ZERO, Wrench
from codegen.system.vectors import Vector, plus
from codegen.tree.chain import Chain
from codegen.tree.link_text import ALPHA, AXES, OMEGA, ORIGIN, PLACE, RATE, A
from codegen.tree.places import Places, Triple
from codegen.tree.reactions import Reactions

KINETIC = "kinetic 0"
HANDED = 6


class StoredPlaces(Places):
    """Points and directions of links from the records of the loops.

    Parameters
    ----------
    order : sequence of int
        Links in the order of the loops.
    """

    def __init__(self, chain: Chain, order: list[int], gravity: Vector) -> None:
        super().__init__(chain)
        self.graph, self.gravity = chain.graph, gravity
        self.place_of = {n: k for k, n in enumerate(order)}
        for n, link in enumerate(chain.links):
            link.omega = self.rate(n)

    def rate(self, n: int) -> Vector:
        """Angular velocity of a link, in its axes."""
        return self._triple("turning", n, OMEGA)

    def axes(self, n: int) -> tuple[Vector, Vector, Vector]:
        if n < 0:
            return super().axes(n)
        x, y, z = (self._triple("place", n, AXES + 3 * k) for k in range(3))
        return x, y, z

    def origin(self, n: int) -> Triple:
        if n < 0:
            return ZERO, ZERO, ZERO
        # links accelerate beside a ground that accelerates upwards instead of weights
        bent = plus(self.out(n, self._triple("bent", n, A)), self.gravity)
        return self._triple("place", n, ORIGIN), self._triple("place", n, RATE), bent

    def alpha(self, n: int) -> Vector:
        return self._triple("bent", n, ALPHA) if n >= 0 else ZERO

    def handed(self) -> list[Wrench]:
        """The wrench that each joint hands to its link."""
        return [
            Wrench(self._triple("handed", n, 0), self._triple("handed", n, 3))
            for n in range(len(self.chain.links))
        ]

    def reactions(self, chain: Chain) -> Reactions:
        """Forces and moments of joints."""
        return Reactions(chain, self.handed, self)

    def _triple(self, array: str, n: int, first: int) -> Vector:
        x, y, z = (self.graph.var(f"{array} {self.place_of[n]} {first + k}") for k in range(3))
        return x, y, z


def bound(graph: Graph, exprs: Iterable[Expr], size: int, places: Sequence[int]) -> dict[Expr, str]:
    """Cells of the variables of some expressions in the work space: records have this size, links these places."""
    arrays = {
        "turning": ("link", size),
        "bent": ("link", size),
        "place": ("place", PLACE),
        "handed": ("handed", HANDED),
    }
    found = {}
    for var in {v for e in exprs for v in graph.variables(e)}:
        head, *rest = var.name.split(" ")
        if var.name == KINETIC:
            found[var] = "w->kinetic[0]"
        elif head in arrays and len(rest) == 2:
            array, stride = arrays[head]
            found[var] = f"w->{array}[{stride * places[int(rest[0])] + int(rest[1])}]"
    return found


def wanted(graph: Graph, exprs: Iterable[Expr]) -> set[str]:
    """Sweeps that have to run before some expressions."""
    names = {v.name.partition(" ")[0] for e in exprs for v in graph.variables(e)}
    found = names & {"turning", "place", "bent", "handed", "kinetic"}
    if "kinetic" in found:
        found.add("place")
    if "handed" in found:
        found.add("bent")
    if found:
        found.add("turning")
    return found

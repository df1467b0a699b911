"""Variables for all that the loops of the transfer matrix method leave behind, in the axes of the ground.

Forces and outputs that ask for these are expressions over them; accelerations, moments and forces of joints are there
once accelerations are found, everything else takes a sweep.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from codegen.expressions.dag import Expr, Graph
from codegen.spatial.algebra import ZERO, Wrench
from codegen.system.vectors import Vector, cross, minus, plus
from codegen.transfer import riccati
from codegen.transfer.link_text import ORIGIN, PLACE, RATE
from codegen.transfer.pattern import Pattern
from codegen.transfer.variables import ALPHA, OMEGA, A
from codegen.tree.chain import Chain
from codegen.tree.places import Triple
from codegen.tree.reactions import Reactions
from codegen.tree.stored import KINETIC, StoredPlaces

HEADS = ("turning", "place", "bent", "handed", "kinetic")


class TransferPlaces(StoredPlaces):
    """Points and directions of links from the records of the loops."""

    def rate(self, n: int) -> Vector:
        return riccati.into(self.axes(n), self._triple("turning", n, OMEGA))

    def axes(self, n: int) -> tuple[Vector, Vector, Vector]:
        if n < 0:
            return (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
        x, y, z = (self._triple("turning", n, 3 * k) for k in range(3))
        return x, y, z

    def place(self, n: int, at: Vector, *, is_point: bool) -> Triple:
        if n < 0:
            return at, ZERO, ZERO
        omega, alpha = self._triple("turning", n, OMEGA), self._triple("bent", n, ALPHA)
        arm = self.out(n, at)
        rate = cross(omega, arm)
        bent = plus(cross(alpha, arm), cross(omega, rate))
        if not is_point:
            return arm, rate, bent
        # links accelerate beside a ground that accelerates upwards instead of weights
        pulled = plus(self._triple("bent", n, A), self.gravity)
        value, moved = self._triple("place", n, ORIGIN), self._triple("place", n, RATE)
        return plus(value, arm), plus(moved, rate), plus(pulled, bent)

    def handed_out(self, n: int) -> Wrench:
        """The wrench that a joint hands to its link, about the link's origin."""
        return Wrench(self._triple("handed", n, 0), self._triple("handed", n, 3))

    def handed(self) -> list[Wrench]:
        """The same of all joints, in the axes of the links."""
        return [
            Wrench(*(riccati.into(self.axes(n), v) for v in self.handed_out(n)))
            for n in range(len(self.chain.links))
        ]

    def reactions(self, chain: Chain) -> Reactions:
        """Forces and moments of joints."""
        return TransferReactions(chain, self)


class TransferReactions(Reactions):
    """Reactions of joints from moments and forces that are in the axes of the ground already."""

    def __init__(self, chain: Chain, places: TransferPlaces) -> None:
        super().__init__(chain, places.handed, places)
        self._shown = places

    def _about(self, link: int, point: Vector) -> Wrench:
        moment, force = self._shown.handed_out(link)
        return Wrench(minus(moment, cross(self._shown.out(link, point), force)), force)


class Cells:
    """Places of the variables in the work space."""

    def __init__(
        self, pattern: Pattern, size: int, shown: Sequence[int], places: Sequence[int]
    ) -> None:
        self._pattern, self._size = pattern, size
        self._shown = {k: place for place, k in enumerate(shown)}
        self._places = places

    def of(self, var: Expr) -> str | None:
        """Text of a variable in C; None if it is none of these."""
        head, *rest = var.name.split(" ")
        if var.name == KINETIC:
            return "w->kinetic[0]"
        if head not in HEADS or len(rest) != 2:
            return None
        n, k = self._places[int(rest[0])], int(rest[1])
        if head == "place":
            return f"w->place[{PLACE * n + k}]"
        if head == "handed":
            return f"w->handed[{len(self._shown) * n + self._shown[k]}]"
        value = self._pattern.record[k]
        if value is not None:
            return repr(value)
        return f"w->link[{self._size * n + self._pattern.place[k]}]"


def asked(graph: Graph, exprs: Iterable[Expr]) -> frozenset[int]:
    """Components of the moments and forces of joints that expressions are about."""
    names = [v.name.split(" ") for e in exprs for v in graph.variables(e)]
    return frozenset(int(name[2]) for name in names if name[0] == "handed" and len(name) == 3)

"""The loops of the transfer matrix method: axes and rates, S and e from the tips to the ground, states and joint
forces back.

Which link begins with nothing, which takes over what the one before it in the loop hands on, and which one is an
input of a body with several of them is read off the chains (`network.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.equations.program import Routine
from codegen.expressions.dag import Graph
from codegen.system.vectors import Vector
from codegen.transfer import riccati
from codegen.transfer.link_text import PLACE, TransferText
from codegen.transfer.network import network
from codegen.transfer.pattern import Pattern, ground_pattern, settled
from codegen.transfer.variables import HAND, RECORD
from codegen.tree.groups import Grouped
from codegen.tree.sweeps import BESIDE, FRESH, JOINS, Sweeps


class TransferSweeps(Sweeps):
    """The loops over one tree.

    Attributes
    ----------
    shown : list of int
        Components of moment and force that are kept of every joint.
    """

    def __init__(self, links: Grouped, texts: Sequence[TransferText]) -> None:
        self.hand = max(1, len(texts[0].pattern.wanted))
        self.shown = sorted(texts[0].shown)
        super().__init__(links, texts)
        self.arrays["handed"] = len(self.shown) * self.count

    def routines(self) -> list[Routine]:
        """Every sweep by itself; `transfer` has the way inwards and the one back."""
        inwards = self._inwards(self.hand, lambda text: text.inwards(), "join")
        outwards = self._outwards(lambda text: text.follow())
        energies = self._outwards(lambda text: text.energise())
        return [
            self._routine("move", "axes and rates of the links", [self._outwards(lambda t: t.moves())]),
            self._routine("place", "where the links are", [self._outwards(lambda t: t.place())]),
            self._routine("energise", "kinetic energy", [(["w->kinetic[0] = 0.0;", *energies[0]], energies[1])]),
            self._routine("transfer", "qdd at q and qd, by Riccati's transfer matrices", [inwards, outwards]),
        ]  # fmt: skip

    def _find_joins(self) -> None:
        found = network(self.parents)
        self.flags = [0] * self.count
        self.joins: dict[int, int] = {}
        for tip in found.tips:
            self.flags[tip] |= FRESH
        for hub, numbers in sorted(found.inputs.items()):
            last = [found.chains[n].links[-1] for n in numbers]
            if hub + 1 not in last:
                self.flags[hub] |= FRESH
            for link in last:
                if link != hub + 1:
                    self.flags[link] |= BESIDE
                    self.flags[hub] |= JOINS
                    self.joins.setdefault(hub, len(self.joins))

    def _arrays(self, here: str) -> list[tuple[str, str, str]]:
        wide = len(self.shown)
        parent = self._columns["PARENT"]
        others = [row for row in super()._arrays(here) if row[0] not in ("here", "there")]
        return [
            *others,
            ("here", "double", f"w->place + {PLACE} * (n)"),
            ("there", "const double", f"w->place + {PLACE} * ({parent})"),
            ("shows", "double", f"w->handed + {wide} * (n)"),
        ]


def written(
    graph: Graph, links: Grouped, gravity: Vector, shown: frozenset[int]
) -> list[TransferText]:
    """The text of each group, without what is the same number in all links, or of no use to any."""

    def texts(pattern: Pattern) -> list[TransferText]:
        return [TransferText(graph, group, gravity, pattern, shown) for group in links.groups]

    begin = ground_pattern((graph.lift(e) for e in riccati.ground(gravity)), HAND)
    assert len(begin.record) == RECORD
    pattern = settled(begin, lambda p: [(text.record, text.hands) for text in texts(p)])
    made, wanted = texts(pattern), set[int]()
    while True:
        more = set().union(*(text.reads(wanted) for text in made))
        if more <= wanted:
            break
        wanted |= more
    return texts(Pattern(pattern.record, pattern.hand, wanted))

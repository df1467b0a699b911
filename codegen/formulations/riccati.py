"""Trees by transfer matrices: Riccati's transformation of chains and branches, in the axes of the ground.

Joint coordinates, forces, inputs, guides and outputs are those of `articulated.py`, and so is the NumPy twin. The
sweeps are always loops over the links; what every joint hands on is found on the way back and costs no sweep of its
own.

Source: Rui, Bestle, Wang and others 2020.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from codegen.description.mechanism import Mechanism
from codegen.equations.program import Program
from codegen.expressions.dag import Expr
from codegen.formulations.articulated import over_tree
from codegen.options.options import KernelOptions
from codegen.transfer.link_text import PLACE
from codegen.transfer.places import HEADS, Cells, TransferPlaces, asked
from codegen.transfer.sweeps import TransferSweeps, written
from codegen.tree.groups import Grouped
from codegen.tree.loops import TreeLoops


def build(mechanism: Mechanism, options: KernelOptions) -> Program:
    """Discretise `mechanism`: the routines of one step as expressions.

    Raises
    ------
    MechanismError
        It is no tree, or has something that joint coordinates do not carry: each by name.
    """
    return over_tree(mechanism, options, -1, TransferLoops)


class TransferLoops(TreeLoops):
    """The sweeps of the transfer matrix method among the routines of a step."""

    # accelerations, moments and forces of joints are there once accelerations of joints are found
    sweep_of: ClassVar = {
        "turning": "move",
        "place": "place",
        "load": "load",
        "kinetic": "energise",
    }
    main = "transfer"
    places = TransferPlaces

    def _sweeps(self, links: Grouped, exprs: Sequence[Expr]) -> TransferSweeps:
        graph = self.eq.graph
        self._shown = asked(graph, exprs)
        texts = written(graph, links, self.tree.loads.gravity, self._shown)
        self._pattern = texts[0].pattern
        return TransferSweeps(links, texts)

    def _sizes(self, count: int) -> dict[str, int]:
        return {"place": PLACE * count if "place" in self.stored else 0, "kinetic": 1}

    def _wanted(self, exprs: Iterable[Expr]) -> set[str]:
        graph = self.eq.graph
        names = {v.name.partition(" ")[0] for e in exprs for v in graph.variables(e)}
        found = names & set(HEADS) - {"handed"}
        if "kinetic" in found:
            found.add("place")
        if found & {"place", "kinetic"}:
            found.add("turning")
        return found

    def _bound(self, exprs: Iterable[Expr]) -> dict[Expr, str]:
        cells = Cells(self._pattern, self.sweeps.size, sorted(self._shown), self.long.places)
        graph = self.eq.graph
        found = {v: cells.of(v) for v in {v for e in exprs for v in graph.variables(e)}}
        return {var: text for var, text in found.items() if text is not None}

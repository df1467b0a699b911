"""Routines of a long tree: loops over its links instead of a line for each.

What forces and outputs ask of the links is computed by sweeps of its own, called before the routine that asks.
"""

from __future__ import annotations

from dataclasses import replace

from codegen.equations.equations import Equations
from codegen.equations.program import LoopText, Routine
from codegen.expressions.dag import Expr
from codegen.expressions.emit import Assign, Cost, Flow
from codegen.tree.groups import grouped, loop_links
from codegen.tree.link_text import LOAD, PLACE
from codegen.tree.mechanism import TreeMechanism
from codegen.tree.spatial import NO_WRENCH
from codegen.tree.stored import HANDED, bound, wanted
from codegen.tree.sweeps import Sweeps

# which sweep stores what expressions ask for, in the order of the calls; loads are found on the way
SWEEPS = {
    "turning": "move",
    "place": "place",
    "load": "load",
    "bent": "bend",
    "handed": "transmit",
    "kinetic": "energise",
}


class TreeLoops:
    """The sweeps of a tree among the routines of its step."""

    def __init__(self, eq: Equations, tree: TreeMechanism) -> None:
        self.eq, self.tree = eq, tree
        graph = tree.source.system.graph
        parameters = {p.var for p in eq.system.parameters}
        links = loop_links(tree.chain, tree.loads, parameters)
        self.sweeps = Sweeps(graph, grouped(links, graph), tree.loads.gravity)
        self.load = Routine("load", "forces that the sweeps take as they are", self._loads())
        self.stored: set[str] = set()

    def tables(self) -> list[str]:
        """Tables in C."""
        return [*self.sweeps.tables, self.sweeps.numbers()[0]]

    def routines(self, others: list[Routine]) -> list[Routine]:
        """The sweeps, and then others with what has to run before them; binds what they ask for."""
        sweeps = {routine.name: routine for routine in self.sweeps.routines()}
        sweeps["articulate"].before = ("move", *self._before(self.load.assigns), "load")
        asking = [self.preceded(routine) for routine in others]
        count = self.sweeps.count
        self.eq.arrays |= self.sweeps.arrays
        self.eq.arrays |= {
            "place": PLACE * count if "place" in self.stored else 0,
            "handed": HANDED * count if "transmit" in self.stored else 0,
            "kinetic": 1,
        }
        in_order = [sweeps.pop(name) for name in ("move", "place")]
        return [*self._prepare(), *in_order, self.load, *sweeps.values(), *asking]

    def preceded(self, routine: Routine) -> Routine:
        """A routine with the sweeps that its expressions ask for before it."""
        return replace(routine, before=self._before(routine.assigns))

    def _before(self, assigns: list[Assign]) -> tuple[str, ...]:
        graph, exprs = self.eq.graph, [a.expr for a in assigns]
        asked = wanted(graph, exprs)
        self.eq.bind |= bound(graph, exprs, self.sweeps.size)
        if "handed" in asked:
            asked |= {"load"} | wanted(graph, [a.expr for a in self.load.assigns])
        names = tuple(name for key, name in SWEEPS.items() if key in asked)
        self.stored |= set(names)
        return tuple(name for name in names if assigns is not self.load.assigns or name != "move")

    def _prepare(self) -> list[Routine]:
        _, follow = self.sweeps.numbers()
        count = len(self.sweeps.links.numbers)
        fill = [f"for (int k = 0; k < {count}; k++)", "    w->number[k] = NUMBERS[k];"]
        loop = LoopText([fill], Cost(), Flow())
        return [
            Routine("fill", "numbers of links that are constants", [], loop=loop),
            Routine("prepare", "what depends on parameters only", follow, is_split=True, before=("fill",)),
        ]  # fmt: skip

    def _loads(self) -> list[Assign]:
        loads, graph = self.tree.loads, self.eq.graph
        assigns = []
        for place, k in enumerate(self.sweeps.loaded):
            link = self.sweeps.links.links[k]
            force: Expr = graph.zero
            if len(link.coordinates) == 1:
                force = loads.forces.get(link.coordinates[0], graph.zero)
            wrench = loads.wrenches.get(link.number, NO_WRENCH)
            assigns += [
                Assign(
                    f"w->load[{LOAD * place + n}]", graph.lift(e), f"on {self.name(link.number)}"
                )
                for n, e in enumerate((force, *wrench.moment, *wrench.force))
            ]
        return assigns

    def name(self, number: int) -> str:
        """Name of a link of the tree."""
        return self.tree.chain.links[number].name

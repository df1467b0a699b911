"""Routines of a long tree: loops over its links instead of a line for each.

What forces and outputs ask of the links is computed by sweeps of its own, called before the routine that asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import ClassVar

from codegen.equations.equations import Equations
from codegen.equations.program import LoopText, Routine
from codegen.expressions.dag import Expr
from codegen.expressions.emit import Assign, Cost, Flow
from codegen.spatial.algebra import NO_WRENCH
from codegen.tree.groups import LOAD, Grouped, grouped
from codegen.tree.link_text import PLACE, LinkText
from codegen.tree.long_rows import Lengthened
from codegen.tree.mechanism import TreeMechanism
from codegen.tree.stored import HANDED, StoredPlaces, bound, wanted
from codegen.tree.sweeps import Sweeps


class TreeLoops:
    """The sweeps of a tree among the routines of its step.

    Parameters
    ----------
    asking : sequence of Routine
        Routines of the step that ask for what sweeps find.

    Attributes
    ----------
    sweep_of : dict of str to str
        Which sweep stores what expressions ask for, in the order of the calls; loads are found on the way.
    main : str
        The sweep that finds accelerations, with those before it.
    """

    sweep_of: ClassVar = {
        "turning": "move",
        "place": "place",
        "load": "load",
        "bent": "bend",
        "handed": "transmit",
        "kinetic": "energise",
    }
    main = "articulate"
    places: type[StoredPlaces] = StoredPlaces

    def __init__(
        self, eq: Equations, tree: TreeMechanism, long: Lengthened, asking: Sequence[Routine]
    ) -> None:
        self.eq, self.tree, self.long, self._asking = eq, tree, long, asking
        graph = tree.source.system.graph
        exprs = [a.expr for routine in asking for a in routine.assigns]
        self.sweeps = self._sweeps(grouped(long.links, graph), exprs)
        self.load = Routine("load", "forces that the sweeps take as they are", self._loads())
        self.stored: set[str] = set()

    def tables(self) -> list[str]:
        """Tables in C."""
        return [*self.sweeps.tables, self.sweeps.numbers()[0]]

    def routines(self) -> list[Routine]:
        """The sweeps, and then those that ask, with what has to run before them; binds what they ask for."""
        sweeps = {routine.name: routine for routine in self.sweeps.routines()}
        sweeps[self.main].before = ("move", *self._before(self.load.assigns), "load")
        asking = [self.preceded(self._moved(routine)) for routine in self._asking]
        self.eq.arrays |= self.sweeps.arrays | self._sizes(self.sweeps.count)
        in_order = [sweeps.pop(name) for name in ("move", "place")]
        return [*self._prepare(), *in_order, self.load, *sweeps.values(), *asking]

    def _sweeps(self, links: Grouped, exprs: Sequence[Expr]) -> Sweeps:
        """The loops over these links, for a step with these expressions."""
        graph, gravity = self.tree.source.system.graph, self.tree.loads.gravity
        return Sweeps(links, [LinkText(graph, group, gravity) for group in links.groups])

    def _sizes(self, count: int) -> dict[str, int]:
        """Arrays that are there where they are asked for."""
        return {
            "place": PLACE * count if "place" in self.stored else 0,
            "handed": HANDED * count if "transmit" in self.stored else 0,
            "kinetic": 1,
        }

    def _wanted(self, exprs: Iterable[Expr]) -> set[str]:
        """Heads of the variables that some expressions ask for, and of those that these follow from."""
        return wanted(self.eq.graph, exprs)

    def _bound(self, exprs: Iterable[Expr]) -> dict[Expr, str]:
        return bound(self.eq.graph, exprs, self.sweeps.size, self.long.places)

    def preceded(self, routine: Routine) -> Routine:
        """A routine with the sweeps that its expressions ask for before it."""
        return replace(routine, before=self._before(routine.assigns))

    def _moved(self, routine: Routine) -> Routine:
        """A routine whose expressions are of the short tree, where a row is longer."""
        if routine.name != "guide_forces":
            return routine
        return replace(
            routine, assigns=[replace(a, expr=self.long.put(a.expr)) for a in routine.assigns]
        )

    def _before(self, assigns: list[Assign]) -> tuple[str, ...]:
        exprs = [a.expr for a in assigns]
        asked = self._wanted(exprs)
        self.eq.bind |= self._bound(exprs)
        if "handed" in asked:
            asked |= {"load"} | self._wanted([a.expr for a in self.load.assigns])
        names = tuple(name for key, name in self.sweep_of.items() if key in asked)
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

    def unfold(self) -> Routine:
        """Every coordinate of the mechanism is stepped."""
        parts = ("q", "qd", "qdd")
        self.eq.arrays |= {f"all_{part}": len(self.eq.q) for part in parts} | {"all_lam": 0}
        lines = [f"    w->all_{part}[i] = s->{part}[i];" for part in parts]
        loop = LoopText([["for (int i = 0; i < N_Q; i++) {", *lines, "}"]], Cost(), Flow())
        return Routine("unfold", "every coordinate of the mechanism", [], loop=loop)

    def name(self, number: int) -> str:
        """Name of a link of the tree."""
        return self.tree.chain.links[number].name

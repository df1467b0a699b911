"""Costs of a step of a mechanism by each formulation, from the operations of their texts, and the one that is advised.

Nothing is compiled. A step is estimated as its operations, three a cycle, and its longest chain of them: what the text
costs on a processor that does both at once lies between the larger of the two and their sum, and the order of two
formulations follows from it (`benchmarks/trees.py` compares it with steps that are timed).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from codegen.description.mechanism import Mechanism, MechanismError
from codegen.equations.presolve import presolve
from codegen.kernels.costs import counted, written
from codegen.options.options import Formulation, Integrator, KernelOptions
from codegen.targets.kernel_text import KernelText
from codegen.topology.motion import topology
from codegen.topology.tree import Tree

TRIED: tuple[tuple[Formulation, Integrator], ...] = (
    ("ali3p", "generalized_alpha"),
    ("index1", "rk4"),
    ("articulated", "rk4"),
    ("riccati", "rk4"),
    ("semi_recursive", "trapezoidal"),
    ("composite", "rk4"),
)
OF_FILE: tuple[Formulation, ...] = ("ali3p", "index1")  # over the coordinates of the file
OF_TREES: tuple[Formulation, ...] = ("articulated", "riccati")
CLOSES: tuple[Formulation, ...] = ("ali3p", "semi_recursive")  # loops, with stiff forces implicit
MOST_COUNTED = 40  # coordinates of an open chain: ordering 60 of them takes most of a minute
MOST_CLOSED = 120  # with loops, where 'semi_recursive' is counted: 177 of them take ten seconds of a quiet processor
LONG = 64  # joint coordinates up to which a tree is written in lines, which its loops do not beat
WRITTEN_OUT: tuple[Formulation, ...] = (
    "semi_recursive",
    "composite",
)  # a line for each entry of a mass matrix
MOST_ENTRIES = 700  # of it: a chain of 36 joints takes ten seconds to write out
AT_ONCE = 3.0  # operations a cycle
NEAR = 0.7  # of the cycles of another one: steps that are timed differ from counts by up to a third


@dataclass(frozen=True)
class FormulationCost:
    """One formulation; `refused` says why it is not for this mechanism, or was not counted.

    Attributes
    ----------
    operations : int
        Of a step, those of loops over arrays among them.
    path_cycles : int
        The longest chain of operations.
    cycles : float
        The estimate by which formulations are compared.
    """

    formulation: Formulation
    integrator: Integrator
    operations: int = 0
    path_cycles: int = 0
    cycles: float = 0.0
    refused: str = ""


@dataclass(frozen=True)
class Costs:
    """All formulations; the one that is advised, and why; `is_near`: another may be as cheap; the texts counted."""

    found: tuple[FormulationCost, ...]
    advised: str
    reason: str
    is_near: bool = False
    texts: dict[Formulation, KernelText] = field(default_factory=dict)

    @property
    def shown(self) -> KernelOptions:
        """The options of the formulation that is advised, as they were counted; the default if there is none."""
        one = next((cost for cost in self.found if cost.formulation == self.advised), None)
        if one is None:
            return KernelOptions()
        return KernelOptions(formulation=one.formulation, integrator=one.integrator)


def formulation_costs(
    mechanism: Mechanism,
    tell: Callable[[str], None] = lambda formulation: None,
) -> Costs:
    """Count a step of each formulation.

    Parameters
    ----------
    mechanism : Mechanism
        As `load` returns it.
    tell : callable
        Takes the name of each formulation before it is counted.
    """
    tree = topology(mechanism.system).tree
    cuts = tree.cuts
    stepped = len(presolve(mechanism.system).system.coordinates)
    entries = _mass_entries(tree)
    found: list[FormulationCost] = []
    texts: dict[Formulation, KernelText] = {}
    # 'ali3p' last: where the tree's equations are there, it need not be ordered over very many coordinates
    for formulation, integrator in sorted(TRIED, key=lambda tried: tried[0] == "ali3p"):
        if formulation == "riccati" and not cuts and len(tree.coordinates) <= LONG:
            words = "is for long chains and trees: not counted"
            found.append(FormulationCost(formulation, integrator, refused=words))
            continue
        is_long = stepped > MOST_COUNTED and (not cuts or formulation not in CLOSES)
        is_long |= stepped > MOST_CLOSED and "semi_recursive" in texts
        if formulation in OF_FILE and is_long:
            words = f"{stepped} coordinates of the file, which take long to order: not counted"
            found.append(FormulationCost(formulation, integrator, refused=words))
            continue
        if formulation in WRITTEN_OUT and entries > MOST_ENTRIES:
            words = (
                f"a mass matrix of {entries} entries, which takes long to write out: not counted"
            )
            found.append(FormulationCost(formulation, integrator, refused=words))
            continue
        tell(formulation)
        options = KernelOptions(formulation=formulation, integrator=integrator)
        try:
            text = written(mechanism, options)
        except MechanismError as error:
            first = error.mistakes[0]
            words = f"{first.key}: {first.problem}"
            found.append(FormulationCost(formulation, integrator, refused=words))
            continue
        texts[formulation] = text
        found.append(_cost_of(text, formulation, integrator))
    order = [formulation for formulation, _ in TRIED]
    found.sort(key=lambda cost: order.index(cost.formulation))
    advised = _advised(tuple(found), has_loops=bool(cuts))
    return replace(advised, texts=texts)


def _mass_entries(tree: Tree) -> int:
    """Entries of the mass matrix over joint coordinates: each joint's beside those on its way to the ground."""
    on_the_way: list[int] = []
    for link in tree.links:
        before = on_the_way[link.parent] if link.parent >= 0 else 0
        on_the_way.append(before + len(link.coordinates))
    # of joints with several coordinates the entries between these, too
    return sum(
        len(link.coordinates) * total - len(link.coordinates) * (len(link.coordinates) - 1) // 2
        for link, total in zip(tree.links, on_the_way, strict=True)
    )


def _cost_of(text: KernelText, formulation: Formulation, integrator: Integrator) -> FormulationCost:
    counts = counted(text)
    work = counts["slots"] + counts["sweep"]
    path = counts["path_cycles"]
    return FormulationCost(formulation, integrator, work, path, work / AT_ONCE + path)


def _advised(found: tuple[FormulationCost, ...], *, has_loops: bool) -> Costs:
    able = {cost.formulation: cost for cost in found if not cost.refused}
    open_ones = [able[name] for name in OF_TREES if name in able]
    if open_ones and not has_loops:
        best = min(open_ones, key=lambda cost: cost.cycles)
        words = "no loop is to be closed and nothing is iterated"
        if best.formulation == "riccati":
            words += ", and what is zero in all links is not computed in any"
        if "semi_recursive" in able:
            words += "; with stiff springs 'semi_recursive', whose steps are implicit"
        return Costs(found, best.formulation, words)
    closing = [able[name] for name in CLOSES if name in able]
    if not closing:
        return Costs(found, "", "no formulation takes it")
    best = min(closing, key=lambda cost: cost.cycles)
    others = [cost for cost in closing if cost is not best]
    words, is_near = "closes the loops with stiff forces implicit", False
    if not has_loops:
        words = "is implicit: the explicit ones do not take the modes of its bodies at this step"
    if others:
        share = best.cycles / others[0].cycles
        words += f", at {share:.2f} of the cycles of '{others[0].formulation}'"
        is_near = share > NEAR
        if is_near:
            words += ": too near for counts to rank, so time both where it matters"
    return Costs(found, best.formulation, words, is_near)

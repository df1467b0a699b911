"""Routines of large mechanisms in text of bounded length: rolled where shapes repeat, over index
tables where they do not, and routines that are still long cut into functions.

The choice follows from the text alone: the text that rolling leaves of a routine, and the text that tables leave of
it. Compilers take more than proportionally longer for long functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from codegen.equations.program import Routine
from codegen.expressions.dag import Expr
from codegen.expressions.emit import Assign, C, Cost, Emitter, Flow
from codegen.expressions.loop_text import rolled
from codegen.expressions.roll import Run, length, runs
from codegen.expressions.tabled import tabled

LONG = 1000  # operands and operations in the text of a routine from which on tables replace it
SHORTER = 0.7  # largest share of the text that tables may leave
LINES = 400  # of a function, where it can be cut


@dataclass(frozen=True)
class Looped:
    """A routine's static tables, its lines in blocks that share no local name, its work, and which
    operation waits for which.
    """

    tables: list[str]
    blocks: list[list[str]]
    cost: Cost
    flows: list[Flow]


def looped(
    routine: Routine,
    bind: Mapping[Expr, str],
    known: Mapping[Expr, str],
    places: Mapping[str, int],
) -> Looped:
    """The form that suits; `places` has the number of each named index."""

    def loops(assigns: list[Assign]) -> list[Run]:
        return runs(
            assigns, bind, known, places,
            is_ordered=routine.is_ordered, is_split=routine.is_split,
        )  # fmt: skip

    def straight(name: str, assigns: list[Assign], found: list[Run]) -> Looped:
        tables, blocks, cost = rolled(name, found)
        emitter = Emitter(C, bind, known)
        emitter.run(assigns)
        return Looped(tables, blocks, cost, [emitter.flow])

    found = loops(routine.assigns)
    if length(found) <= LONG:
        return straight(routine.name, routine.assigns, found)
    made = tabled(routine.name, routine.assigns, bind, known, places, is_ordered=routine.is_ordered)
    if made is None:
        return straight(routine.name, routine.assigns, found)
    left = loops(made.rest)
    if length(left) > SHORTER * length(found):
        return straight(routine.name, routine.assigns, found)
    rest = straight(f"{routine.name}_rest", made.rest, left)
    return Looped(
        [*made.tables, *rest.tables],
        [["{", *(f"    {line}" for line in made.lines), "}"], *rest.blocks],
        made.cost.plus(rest.cost),
        [made.flow, *rest.flows],
    )


def pieces(blocks: list[list[str]]) -> list[list[str]]:
    """Blocks put together to functions of bounded length; one block is never cut."""
    made: list[list[str]] = [[]]
    for block in blocks:
        if made[-1] and len(made[-1]) + len(block) > LINES:
            made.append([])
        made[-1] += block
    return made

"""Routines as sums of products of stored cells: the form that a generic loop over index tables can compute.

Every assignment becomes one `Gather`, a cell that is a sum of terms (coefficient, up to two cells) or
its reciprocal; inner parts of an expression become cells of a local array `part`. Functions and
choices are left to straight-line text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from codegen.expressions.dag import Expr
from codegen.expressions.descent import Steps, descend
from codegen.expressions.emit import Assign

PART = "part"  # array of inner parts
CELL = re.compile(r"(.*)\[(\w+)\]$")

Cell = tuple[str, int]  # array and index
Term = tuple[float, tuple[Cell, ...]]


@dataclass(frozen=True)
class Gather:
    """`target` becomes the sum of `terms`, or the reciprocal of it."""

    target: Cell
    terms: tuple[Term, ...]
    is_inverse: bool = False

    @property
    def reads(self) -> list[Cell]:
        return [cell for _, cells in self.terms for cell in cells]

    @property
    def form(self) -> tuple[str, bool]:
        """Features that all statements of one loop share."""
        return self.target[0], self.is_inverse


class Gatherer:
    """Turns assignments into gathers, in an order in which they can be carried out.

    `bind` and `known` give the place of variables and of stored expressions, `places` the number of
    each named index.
    """

    def __init__(
        self,
        assigns: list[Assign],
        bind: Mapping[Expr, str],
        known: Mapping[Expr, str],
        places: Mapping[str, int],
    ) -> None:
        self._bind, self._known, self._places = bind, known, places
        self._cells: dict[Expr, Cell] = {}
        self._fits: dict[Expr, bool] = {}
        self._uses: dict[Expr, int] = {}
        self._parts = 0
        self.made: list[Gather] = []
        self.rest: list[Assign] = []  # those that are not sums of products
        fitting = []
        for assign in assigns:
            if CELL.match(assign.target) and descend(self._is_fit(assign.expr)):
                fitting.append(assign)
            else:
                self.rest.append(assign)
        self._count([assign.expr for assign in fitting])
        for assign in fitting:
            target = self._place(assign.target)
            assert target is not None
            descend(self._gather(target, assign.expr))
            if assign.expr not in self._cells and not self._is_leaf(assign.expr):
                self._cells[assign.expr] = target

    @property
    def parts(self) -> int:
        """Length of the array of inner parts."""
        return self._parts

    def _is_leaf(self, e: Expr) -> bool:
        return e.op in ("var", "const") or e in self._known

    def _place(self, text: str) -> Cell | None:
        found = CELL.match(text)
        if found is None:
            return None
        array, index = found.groups()
        return array, self._places[index] if index in self._places else int(index)

    def _text(self, e: Expr) -> str:
        return self._known[e] if e in self._known else self._bind[e]

    def _is_fit(self, e: Expr) -> Steps[bool]:
        if e not in self._fits:
            if e.op == "const":
                fits = True
            elif self._is_leaf(e):
                fits = CELL.match(self._text(e)) is not None
            else:
                fits = e.op in ("sum", "mul", "inv")
                for a in e.args if fits else ():
                    fits = yield self._is_fit(a)
                    if not fits:
                        break
            self._fits[e] = fits
        return self._fits[e]

    def _count(self, roots: list[Expr]) -> None:
        stack = list(roots)
        while stack:
            e = stack.pop()
            self._uses[e] = self._uses.get(e, 0) + 1
            if self._uses[e] == 1 and not self._is_leaf(e):
                stack.extend(e.args)

    def _gather(self, target: Cell, e: Expr) -> Steps[None]:
        if e.op == "inv" and e not in self._cells and not self._is_leaf(e):
            terms = yield self._terms(1.0, e.args[0])
            self.made.append(Gather(target, tuple(terms), True))
        else:
            terms = yield self._terms(1.0, e)
            self.made.append(Gather(target, tuple(terms)))

    def _cell(self, e: Expr) -> Steps[Cell]:
        """Return the place of a factor; one that is stored nowhere becomes a part."""
        if self._is_leaf(e):
            place = self._place(self._text(e))
            assert place is not None
            return place
        if e not in self._cells:
            part = (PART, self._parts)
            self._parts += 1
            yield self._gather(part, e)
            self._cells[e] = part
        return self._cells[e]

    def _terms(self, coef: float, e: Expr) -> Steps[list[Term]]:
        """Terms of coef * e; a sum that nothing else uses is a part of the one around it."""
        if e.op == "const":
            return [(coef * e.value, ())]
        if e in self._cells or self._is_leaf(e):
            return [(coef, ((yield self._cell(e)),))]
        if e.op == "mul":
            factors = []
            for factor in e.args:
                if factor.op == "sum" and len(factor.args) == 1 and factor not in self._cells:
                    coef, factor = coef * factor.coefs[0], factor.args[0]
                factors.append((yield self._cell(factor)))
            return [(coef, tuple(sorted(factors)))]  # like pairs of arrays look alike
        if e.op == "inv":
            return [(coef, ((yield self._cell(e)),))]
        terms: list[Term] = []
        for c, a in zip(e.coefs, e.args, strict=True):
            if a.op == "sum" and self._uses[a] > 1 and len(a.args) > 1:
                terms.append((coef * c, ((yield self._cell(a)),)))
            else:
                terms += yield self._terms(coef * c, a)
        return terms


def by_level(gathers: list[Gather]) -> list[Gather]:
    """In as few groups of one form as possible: what waits for nothing first, then what waits for
    that, and so on.
    """
    written: dict[Cell, int] = {}
    read: dict[Cell, int] = {}
    level: list[int] = []
    for gather in gathers:
        first = max((written[cell] + 1 for cell in gather.reads if cell in written), default=0)
        # a statement that reads the old value comes before
        first = max(first, read.get(gather.target, -1) + 1)
        if gather.target in written:
            first = max(first, written[gather.target] + 1)
        level.append(first)
        written[gather.target] = first
        for cell in gather.reads:
            read[cell] = max(read.get(cell, -1), first)
    order = sorted(
        range(len(gathers)), key=lambda n: (level[n], gathers[n].form, gathers[n].target[1])
    )
    return [gathers[n] for n in order]

"""The cost of an elimination order: operation slots and critical path of L D L^T and its solves.

The same operations as `elimination` writes and the same rules as `emit` prints them by, without
building an expression: one order takes a millisecond, so hundreds can be tried.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from codegen.expressions.dag import Expr
from codegen.expressions.sums import Term, joined

FMA, DIV = 4, 14  # cycles, as codegen.expressions.emit counts them
# factorisations and solves of one step: two newton iterations and both projections
FACTORS, SOLVES = 3, 4
# fitted to measured times of small and middle-sized kernels
PER_SLOT, PER_CYCLE = 0.75, 0.8


class Entry(NamedTuple):
    """An entry of the matrix: its varying terms, and whether a constant is added."""

    terms: tuple[Term, ...]
    has_constant: bool


@dataclass(frozen=True)
class Work:
    """Operations of one factorisation, of one solve, and of a solve that follows a factorisation at once."""

    factor_slots: int
    solve_slots: int
    factor_path: float
    solve_path: float

    @property
    def price(self) -> float:
        """Price of one step: slots and cycles, weighted by a fit to measured times."""
        slots = FACTORS * self.factor_slots + SOLVES * self.solve_slots
        path = FACTORS * self.factor_path + (SOLVES - FACTORS) * self.solve_path
        return PER_SLOT * slots + PER_CYCLE * path


def entry(e: Expr) -> Entry:
    """Return the form in which an expression would be printed as a part of a sum."""
    if e.is_const:
        return Entry((), not e.is_zero)
    pairs = zip(e.coefs, e.args, strict=True) if e.op == "sum" else [(1.0, e)]
    found, has_constant = [], False
    for c, a in pairs:
        if a.is_const:
            has_constant = True
        else:
            found.append((0.0, abs(c) != 1.0 or a.op == "mul"))
    return Entry(tuple(found), has_constant)


def work(
    matrix: Mapping[tuple[int, int], Entry],
    order: Sequence[int],
    quick: Collection[int] = (),
    silent: Collection[int] = (),
) -> Work:
    """Cost of eliminating in this order; columns in `quick` square their first entry before it is
    divided, indices in `silent` have zero on the right-hand side.
    """
    rank = {index: position for position, index in enumerate(order)}
    # by rank: the entry's terms, whether it has a constant
    terms: dict[tuple[int, int], list[Term]] = {}
    constant: set[tuple[int, int]] = set()
    below: list[list[int]] = [[] for _ in order]
    for (i, j), (given, has_constant) in matrix.items():
        a, b = rank[i], rank[j]
        key = (a, b) if a <= b else (b, a)
        terms[key] = list(given)
        if has_constant:
            constant.add(key)
        if i != j:
            below[key[0]].append(key[1])
    quick_ranks = {rank[k] for k in quick}
    slots = 0
    inverse: list[float | None] = []  # when ready, None for a constant
    columns: list[list[tuple[int, float | None]]] = []
    for k in range(len(order)):
        pivot, spent = _entry(terms[k, k], (k, k) in constant)
        slots += spent
        if pivot is not None:
            pivot += DIV
            slots += 1
        inverse.append(pivot)
        upper: list[float | None] = []
        lower: list[float | None] = []
        rest = sorted(below[k])
        for i in rest:
            u, spent = _entry(terms[k, i], (k, i) in constant)
            upper.append(u)
            late = u if pivot is None else pivot if u is None else max(u, pivot)
            lower.append(None if late is None else late + FMA)
            slots += spent + (late is not None)
        columns.append(list(zip(rest, lower, strict=True)))
        for a, i in enumerate(rest):
            u = upper[a]
            for b in range(a, len(rest)):
                key = (i, rest[b])
                if key not in terms:
                    terms[key] = []
                    below[i].append(rest[b])
                late = lower[b]
                if late is None:
                    constant.add(key)
                elif a == b == 0 and k in quick_ranks and u is not None and pivot is not None:
                    slots += 1
                    terms[key].append((max(u + FMA, pivot), True))
                else:
                    terms[key].append((late if u is None else max(u, late), True))
    last = max((x for x in inverse if x is not None), default=0.0)
    quiet = {rank[k] for k in silent}
    solve_slots, solve_path = _solve(columns, [0.0] * len(order), quiet, is_ready=True)
    _, factor_path = _solve(columns, [x or 0.0 for x in inverse], quiet, is_ready=False)
    return Work(slots, solve_slots, max(last, factor_path), solve_path)


def _entry(terms: list[Term], has_constant: bool) -> tuple[float | None, int]:
    if not terms:
        return None, 0
    return _cost((*terms, (0.0, False)) if has_constant else tuple(terms))


@lru_cache(maxsize=1 << 16)
def _cost(terms: tuple[Term, ...]) -> tuple[float, int]:
    """Cycle at which a sum is ready, and its operations; orders that are tried have most sums in common."""
    return joined(terms)[1:]


def _solve(
    columns, inverse: list[float], quiet: Collection[int], *, is_ready: bool
) -> tuple[int, float]:
    """Slots and path of both substitutions, with a factor that is there or just being made."""
    n = len(columns)
    slots = 0
    waiting: list[list[Term]] = [[] if k in quiet else [(0.0, False)] for k in range(n)]
    y: list[float | None] = [None] * n  # None for zero
    for k in range(n):
        if not waiting[k]:
            continue
        done, spent = _cost(tuple(waiting[k]))
        y[k] = done
        slots += spent
        for i, ready in columns[k]:
            at = done if is_ready or ready is None else max(done, ready)
            waiting[i].append((at, True))
    x = [0.0] * n
    for k in range(n - 1, -1, -1):
        mine = y[k]
        terms = [] if mine is None else [(max(mine, inverse[k]), True)]
        for i, ready in columns[k]:
            at = x[i] if is_ready or ready is None else max(x[i], ready)
            terms.append((at, True))
        if terms:
            x[k], spent = _cost(tuple(terms))
            slots += spent
    return slots, max(x, default=0.0)

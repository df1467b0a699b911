"""Elimination order of a symmetric matrix: cheap and short."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from codegen.expressions.dag import Expr
from codegen.expressions.degree_order import by_degree, neighbours_of, order_by_degree
from codegen.expressions.elimination_cost import Entry, Work, entry, work

TRIES = 60  # orders by minimum degree
KEPT = 12  # of them, looked at closely
MOVES = 300  # at most, of one index to another place
PATIENCE = 100  # moves without a gain
BUDGET = 500_000  # operations of the orders that are looked at in one place: about a second
REMEMBERED = 64  # orders; a kernel, its twin and a twin with a finer step need the same ones


def order_pattern(
    n: int,
    pattern: set[tuple[int, int]],
    last: Sequence[int],
    *,
    is_large: bool = False,
    matrix: Mapping[tuple[int, int], Expr] | None = None,
) -> list[int]:
    """Elimination order of a symmetric pattern: cheap and short, `last` at the end.

    Minimum degree with randomly broken ties, then moves of single indices as long as they lower the
    price of `codegen.expressions.elimination_cost`; a fixed seed, so the same input gives the same order. With
    `matrix` constants in it are known to cost nothing.
    A large pattern is ordered once, by degree, then by the time at which a pivot is ready.
    """
    if is_large:
        return order_by_degree(n, neighbours_of(n, pattern), last)
    if matrix is None:
        entries = {key: Entry(((0.0, True), (0.0, True)), False) for key in pattern}
    else:
        entries = {key: entry(e) for key, e in matrix.items()}
    entries |= {(i, i): Entry(((0.0, False),), False) for i in range(n) if (i, i) not in entries}
    return list(_ordered(n, tuple(sorted(entries.items())), tuple(last)))


@lru_cache(maxsize=REMEMBERED)
def _ordered(
    n: int, given: tuple[tuple[tuple[int, int], Entry], ...], last: tuple[int, ...]
) -> tuple[int, ...]:
    entries = dict(given)
    neighbours = neighbours_of(n, entries)
    choice = random.Random(105)
    tried = [
        by_degree(n, neighbours, last, choice, 0.0 if attempt == 0 else 1.5)
        for attempt in range(TRIES)
    ]
    tried.sort(key=lambda pair: pair[0])
    best = work(entries, tried[0][1], ())
    looks = _looks(best)
    price, order = best.price, tried[0][1]
    for _, other in tried[1 : min(KEPT, looks)]:
        price, order = min((price, order), (work(entries, other, ()).price, other))
    free = n - len(last)
    if free < 2:
        return tuple(order)
    vain = 0
    for _ in range(min(MOVES, looks)):
        moved = _moved(order, free, choice)
        if moved == order:
            continue
        now = work(entries, moved, ()).price
        vain = 0 if now < price else vain + 1
        if now <= price:
            price, order = now, moved
        if vain > PATIENCE:
            break
    return tuple(order)


def _looks(one: Work) -> int:
    """Return the number of orders like this one that the budget allows to examine closely."""
    return BUDGET // (one.factor_slots + one.solve_slots + 1)


def _moved(order: Sequence[int], free: int, choice: random.Random) -> list[int]:
    """The order with one of its first `free` indices at another place, often a near one."""
    origin = choice.randrange(free)
    near = origin + choice.choice((-3, -2, -1, 1, 2, 3))
    place = choice.randrange(free) if choice.random() < 0.4 else min(max(near, 0), free - 1)
    made = list(order)
    made.insert(place, made.pop(origin))
    return made


@dataclass(frozen=True)
class Bordered:
    """[[weight + phi_q^T phi_q of the other rows, phi_q^T], [phi_q, -1]] of the rows kept in it:
    the same solution as weight + phi_q^T phi_q of all rows.

    A row of its own is worth it where a coordinate that carries mass can be eliminated before the
    row ties it to all others. A row's index is the number of coordinates and its own.

    Attributes
    ----------
    kept : list of int
        Rows, in ascending order.
    order : list of int
        Of coordinates and kept rows.
    """

    kept: list[int]
    order: list[int]


def bordered(
    n: int,
    weights: Collection[tuple[int, int]],
    rows: Sequence[Mapping[int, Expr]],
    massive: Collection[int],
    start: Sequence[int],
    last: Sequence[int],
) -> Bordered:
    """Rows to keep and an order, by moves that lower the price, from `start` without any.

    A coordinate that carries no mass of its own comes after all its rows, so that its pivot is
    never zero; so the matrix is quasi-definite, and every order that is left is safe (Vanderbei
    1995).
    """
    constant = tuple(tuple((i, e.is_const) for i, e in row.items()) for row in rows)
    kept, order = _bordered(
        n, tuple(weights), constant, frozenset(massive), tuple(start), tuple(last)
    )
    return Bordered(list(kept), list(order))


@lru_cache(maxsize=REMEMBERED)
def _bordered(
    n: int,
    weights: tuple[tuple[int, int], ...],
    constant: tuple[tuple[tuple[int, bool], ...], ...],
    massive: frozenset[int],
    start: tuple[int, ...],
    last: tuple[int, ...],
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Rows to keep and the order; of each row, the coordinates in it and whether each entry is constant."""
    weight = Entry(((0.0, False),), False)
    rows = [dict(row) for row in constant]
    bound = [[n + r for r, row in enumerate(rows) if i in row] for i in range(n)]
    made: dict[frozenset[int], dict[tuple[int, int], Entry]] = {}

    def matrix(kept: frozenset[int]) -> dict[tuple[int, int], Entry]:
        if kept not in made:
            made[kept] = _bordered_pattern(n, weights, rows, kept, weight)
        return made[kept]

    def is_safe(order: Sequence[int], kept: frozenset[int]) -> bool:
        rank = {k: position for position, k in enumerate(order)}
        return all(
            i in massive or all(rank[r] < rank[i] for r in bound[i] if r - n in kept)
            for i in range(n)
        )

    choice = random.Random(205)
    kept: frozenset[int] = frozenset()
    order = list(start)
    price = work(matrix(kept), order).price
    candidates = [r for r, row in enumerate(rows) if any(i in massive for i in row)]
    vain = 0
    for _ in range(2 * MOVES if candidates else 0):
        if vain > 2 * PATIENCE:
            break
        free = len(order) - len(last)
        moved, now_kept = list(order), kept
        if not kept or choice.random() < 0.4:
            r = choice.choice(candidates)
            if r in kept:
                now_kept = kept - {r}
                moved.remove(n + r)
            else:
                # some of its coordinates that carry mass, and the row right after them
                now_kept = kept | {r}
                movable = [i for i in rows[r] if i in massive and i not in last]
                first = [i for i in movable if choice.random() < 0.6] or movable[:1]
                place = min((moved.index(i) for i in first), default=free)
                moved = [i for i in moved if i not in first]
                moved[place:place] = [*first, n + r]
        else:
            moved = _moved(order, free, choice)
            if moved == order:
                continue
        if now_kept and not is_safe(moved, now_kept):
            continue
        now = work(matrix(now_kept), moved, (), [n + r for r in now_kept]).price
        vain = 0 if now < price else vain + 1
        if now <= price:
            price, order, kept = now, moved, now_kept
    return tuple(sorted(kept)), tuple(order)


def _bordered_pattern(n, weights, rows, kept, weight) -> dict[tuple[int, int], Entry]:
    terms: dict[tuple[int, int], list] = {(i, i): [] for i in range(n)}
    fixed: set[tuple[int, int]] = set()
    for key in weights:
        terms.setdefault(key, []).extend(weight.terms)
    for r, row in enumerate(rows):
        if r in kept:
            terms[n + r, n + r] = []
            fixed.add((n + r, n + r))
            for i, is_fixed in row.items():
                terms[i, n + r] = [] if is_fixed else [(0.0, False)]
                if is_fixed:
                    fixed.add((i, n + r))
            continue
        inside = sorted(row)
        for a, i in enumerate(inside):
            for j in inside[a:]:
                if row[i] and row[j]:
                    terms.setdefault((i, j), [])
                    fixed.add((i, j))
                else:
                    terms.setdefault((i, j), []).append((0.0, True))
    return {key: Entry(tuple(given), key in fixed) for key, given in terms.items()}


def quick_columns(matrix: Mapping[tuple[int, int], Entry], order: Sequence[int]) -> set[int]:
    """Columns on the critical path: there, `(u u) / d` in place of `u (u / d)` saves cycles and
    costs a multiplication.
    """
    return set(_quick(tuple(matrix.items()), tuple(order)))


@lru_cache(maxsize=REMEMBERED)
def _quick(
    given: tuple[tuple[tuple[int, int], Entry], ...], order: tuple[int, ...]
) -> frozenset[int]:
    matrix = dict(given)
    quick = set(order)
    all_quick = work(matrix, order, quick)
    price = all_quick.price
    # a column that is not looked at stays quick
    for k in order[: _looks(all_quick)]:
        now = work(matrix, order, quick - {k}).price
        if now <= price:
            price = now
            quick.discard(k)
    return frozenset(quick)

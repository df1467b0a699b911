"""Elimination order and static LDL^T of a symmetric matrix of expressions."""

from __future__ import annotations

import heapq
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codegen.dag import Expr, Graph

Entries = dict[tuple[int, int], Expr]
TRIES = 60


def order_pattern(
    n: int, pattern: set[tuple[int, int]], last: Sequence[int], *, is_large: bool = False
) -> list[int]:
    """Elimination order of a symmetric pattern: cheap and short, `last` at the end.

    Minimum degree with randomly broken ties; of some tries with a fixed seed the one with the least
    0.75 * operation slots + 0.8 * critical path is taken (weights fitted to measured times).
    A large pattern is ordered once, by degree, then by the time at which a pivot is ready.
    """
    neighbours: list[set[int]] = [set() for _ in range(n)]
    for i, j in pattern:
        if i != j:
            neighbours[i].add(j)
            neighbours[j].add(i)
    if is_large:
        return _order_by_degree(n, neighbours, last)
    choice = random.Random(1)
    best: tuple[float, list[int]] | None = None
    for attempt in range(TRIES):
        found = _try_order(n, neighbours, last, choice, 0.0 if attempt == 0 else 1.5)
        if best is None or found[0] < best[0]:
            best = found
    assert best is not None
    return best[1]


def _order_by_degree(n: int, around: list[set[int]], last: Sequence[int]) -> list[int]:
    left = set(range(n)) - set(last)
    depth = [0] * n  # pivots that must come before
    heap = [(len(around[i]), 0, i) for i in sorted(left)]
    heapq.heapify(heap)
    order: list[int] = []
    while heap:
        degree, deep, pivot = heapq.heappop(heap)
        if pivot not in left or (degree, deep) != (len(around[pivot]), depth[pivot]):
            continue  # has changed since; its present entry is further down
        left.remove(pivot)
        order.append(pivot)
        rest = around[pivot]
        for i in sorted(rest):
            around[i].discard(pivot)
            around[i] |= rest - {i}
            depth[i] = max(depth[i], depth[pivot] + 1)
        for i in sorted(rest & left):
            heapq.heappush(heap, (len(around[i]), depth[i], i))
    return [*order, *last]


def _try_order(n, neighbours, last, choice, slack) -> tuple[float, list[int]]:
    around = [set(s) for s in neighbours]
    left = set(range(n)) - set(last)
    ready = [0.0] * n  # of each pivot
    order: list[int] = []
    slots, path = 0.0, 0.0
    tail = list(last)
    while left or tail:
        if left:
            # degree first, then early pivots; a random share of both lets tries differ
            pivot = min(
                sorted(left),
                key=lambda i: len(around[i]) + 0.01 * ready[i] + slack * choice.random(),
            )
            left.remove(pivot)
        else:
            pivot = tail.pop(0)
        order.append(pivot)
        rest = around[pivot]
        size = len(rest)
        slots += 1 + size + size * (size + 1) / 2 + 3 * 2 * size
        divided = ready[pivot] + 14
        path = max(path, divided)
        for i in rest:
            around[i].discard(pivot)
            around[i] |= rest - {i}
            ready[i] = max(ready[i], divided + 8) + 4 * (size > 3)
    return 0.75 * slots + 0.8 * path, order


@dataclass
class Factor:
    """LDL^T in elimination order: `lower[(i, k)]`, `upper[(k, i)]` = lower d and `inverse[k]` = 1/d
    in the matrix's own indices.
    """

    order: list[int]
    lower: Entries
    upper: Entries
    inverse: dict[int, Expr]


def factorise(
    graph: Graph, matrix: Entries, order: list[int], names: Sequence[str], *, cut: bool = False
) -> Factor:
    """LDL^T by columns; only structural nonzeros exist. Keys of `matrix` are (min, max).

    With `cut`, a column sees earlier ones as stored variables (`upper k i`, `lower i k`, `inverse
    k`), so that every column is a small expression on its own.
    """
    rank = {index: position for position, index in enumerate(order)}
    # terms[(i, j)], i eliminated before j, collects the entry and what earlier pivots subtract
    terms: dict[tuple[int, int], list[tuple[float, Expr]]] = {}
    for (i, j), entry in matrix.items():
        key = (i, j) if rank[i] <= rank[j] else (j, i)
        terms[key] = [(1.0, entry)]
    below: dict[int, list[int]] = {k: [] for k in order}
    for i, j in terms:
        if i != j:
            below[i].append(j)
    factor = Factor(order, {}, {}, {})
    for k in order:
        rest = sorted(set(below[k]), key=rank.__getitem__)
        pivot = graph.stem(graph.total(terms[k, k]), f"pivot_{names[k]}")
        inverse = factor.inverse[k] = graph.stem(graph.reciprocal(pivot), f"inverse_{names[k]}")
        upper, lower = {}, {}
        for i in rest:
            value = graph.stem(graph.total(terms[k, i]), f"u_{names[k]}_{names[i]}")
            factor.upper[k, i] = value
            upper[i] = graph.var(f"upper {k} {i}") if cut else value
            factor.lower[i, k] = graph.stem(
                (value if cut else upper[i]) * inverse, f"l_{names[i]}_{names[k]}"
            )
            lower[i] = graph.var(f"lower {i} {k}") if cut else factor.lower[i, k]
        for a, i in enumerate(rest):
            # the next pivot of this branch waits for nothing but the reciprocal
            if a == 0 and not cut:
                square = (upper[i] * upper[i]) * inverse
            else:
                square = upper[i] * lower[i]
            terms[i, i].append((-1.0, square))
            for j in rest[a + 1 :]:
                if (i, j) not in terms:
                    terms[i, j] = []
                    below[i].append(j)
                terms[i, j].append((-1.0, upper[i] * lower[j]))
    return factor


def substitute(
    graph: Graph,
    factor: Factor,
    lower: Mapping[tuple[int, int], Expr],
    inverse: Mapping[int, Expr],
    rhs: Sequence[Expr],
    *,
    cut: bool = False,
) -> tuple[list[Expr], list[Expr]]:
    """Forward (y) and back substitution (x), with the factor's entries as given expressions.

    With `cut`, earlier results are variables (`y i`, `x i`).
    """
    rank = {index: position for position, index in enumerate(factor.order)}
    by_row: dict[int, list[int]] = {k: [] for k in factor.order}
    by_column: dict[int, list[int]] = {k: [] for k in factor.order}
    for i, k in factor.lower:
        by_row[i].append(k)
        by_column[k].append(i)
    y: dict[int, Expr] = {}
    seen: dict[int, Expr] = {}
    for i in factor.order:
        earlier = sorted(by_row[i], key=rank.__getitem__)
        y[i] = graph.total([(1.0, rhs[i])] + [(-1.0, lower[i, k] * seen[k]) for k in earlier])
        seen[i] = graph.var(f"y {i}") if cut else y[i]
    x: dict[int, Expr] = {}
    found: dict[int, Expr] = {}
    for k in reversed(factor.order):
        later = sorted(by_column[k], key=rank.__getitem__)
        x[k] = graph.total(
            [(1.0, seen[k] * inverse[k])] + [(-1.0, lower[i, k] * found[i]) for i in later]
        )
        found[k] = graph.var(f"x {k}") if cut else x[k]
    return [y[i] for i in range(len(rhs))], [x[i] for i in range(len(rhs))]

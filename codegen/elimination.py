"""Elimination order and static LDL^T of a symmetric matrix of expressions."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codegen.dag import Expr, Graph

Entries = dict[tuple[int, int], Expr]
TRIES = 60


def order_pattern(n: int, pattern: set[tuple[int, int]], last: Sequence[int]) -> list[int]:
    """Elimination order of a symmetric pattern: cheap and short, `last` at the end.

    Minimum degree with randomly broken ties; of some tries with a fixed seed the one with the least
    0.75 * operation slots + 0.8 * critical path is taken (weights fitted to measured times).
    """
    neighbours: list[set[int]] = [set() for _ in range(n)]
    for i, j in pattern:
        if i != j:
            neighbours[i].add(j)
            neighbours[j].add(i)
    choice = random.Random(1)
    best: tuple[float, list[int]] | None = None
    for attempt in range(TRIES):
        found = _try_order(n, neighbours, last, choice, 0.0 if attempt == 0 else 1.5)
        if best is None or found[0] < best[0]:
            best = found
    assert best is not None
    return best[1]


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
    """LDL^T in elimination order: `lower[(i, k)]` and `inverse[k]` in the matrix's own indices."""

    order: list[int]
    lower: Entries
    inverse: dict[int, Expr]


def factorise(graph: Graph, matrix: Entries, order: list[int], names: Sequence[str]) -> Factor:
    """LDL^T by columns; only structural nonzeros exist. Keys of `matrix` are (min, max)."""
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
    lower: Entries = {}
    inverse: dict[int, Expr] = {}
    for k in order:
        rest = sorted(set(below[k]), key=rank.__getitem__)
        pivot = graph.stem(graph.total(terms[k, k]), f"pivot_{names[k]}")
        inverse[k] = graph.reciprocal(pivot)
        upper = {}
        for i in rest:
            upper[i] = graph.stem(graph.total(terms[k, i]), f"u_{names[k]}_{names[i]}")
            lower[i, k] = graph.stem(upper[i] * inverse[k], f"l_{names[i]}_{names[k]}")
        for a, i in enumerate(rest):
            # squares wait for nothing but the reciprocal
            terms[i, i].append((-1.0, (upper[i] * upper[i]) * inverse[k]))
            for j in rest[a + 1 :]:
                if (i, j) not in terms:
                    terms[i, j] = []
                    below[i].append(j)
                terms[i, j].append((-1.0, upper[i] * lower[j, k]))
    return Factor(order, lower, inverse)


def substitute(
    graph: Graph,
    factor: Factor,
    lower: Mapping[tuple[int, int], Expr],
    inverse: Mapping[int, Expr],
    rhs: Mapping[int, Expr],
) -> dict[int, Expr]:
    """Solution by forward and back substitution, with the factor's entries as given expressions."""
    rank = {index: position for position, index in enumerate(factor.order)}
    by_row: dict[int, list[int]] = {k: [] for k in factor.order}
    by_column: dict[int, list[int]] = {k: [] for k in factor.order}
    for i, k in factor.lower:
        by_row[i].append(k)
        by_column[k].append(i)
    y: dict[int, Expr] = {}
    for i in factor.order:
        earlier = sorted(by_row[i], key=rank.__getitem__)
        y[i] = graph.total([(1.0, rhs[i])] + [(-1.0, lower[i, k] * y[k]) for k in earlier])
    x: dict[int, Expr] = {}
    for k in reversed(factor.order):
        later = sorted(by_column[k], key=rank.__getitem__)
        x[k] = graph.total([(1.0, y[k] * inverse[k])] + [(-1.0, lower[i, k] * x[i]) for i in later])
    return x

"""Elimination orders by minimum degree: where the search of a cheap order begins, and all that a large matrix gets."""

from __future__ import annotations

import heapq
import random
from collections.abc import Collection, Sequence


def neighbours_of(n: int, pattern: Collection[tuple[int, int]]) -> list[set[int]]:
    """Return the neighbours of each index in a symmetric pattern."""
    found: list[set[int]] = [set() for _ in range(n)]
    for i, j in pattern:
        if i != j:
            found[i].add(j)
            found[j].add(i)
    return found


def by_degree(
    n: int, neighbours: list[set[int]], last: Sequence[int], choice: random.Random, slack: float
) -> tuple[float, list[int]]:
    """An order by minimum degree, and a rough price of it."""
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


def order_by_degree(n: int, around: list[set[int]], last: Sequence[int]) -> list[int]:
    """Least neighbours first, then the earliest; takes `around` apart."""
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

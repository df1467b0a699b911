"""In which order a sum is added: as early as its terms allow, in as few operations as that takes.

A product fuses with the addition that follows it, so a sum of n terms takes n - 1 operations, and
one more for each pair of products that are added to each other. Adding the two earliest terms first
is fastest; the fewest chains that are as fast take the fewest operations.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

ADD = 4  # cycles of an addition, a multiplication, or both fused
CHAINS = 4  # tried before the two earliest terms are paired each time

Term = tuple[float, bool]  # cycle at which it is ready, and whether it is a product
Join = tuple[int, int]


def joined(terms: Sequence[Term]) -> tuple[list[Join], float, int]:
    """Pairs to add, cycle at which the sum is ready, and operations.

    Terms are numbered as given, and each pair's sum takes the next number. A single product is
    ready when it is multiplied.
    """
    n = len(terms)
    if n == 1:
        ready, is_product = terms[0]
        return [], ready + ADD * is_product, int(is_product)
    best = _paired(terms)
    if n == 2:
        return best
    for chains in range(1, min(CHAINS, n - 1)):
        found = _chained(terms, chains)
        if found[1] <= best[1] + ADD:
            return found if found[2] <= best[2] else best
    return best


def _paired(terms: Sequence[Term]) -> tuple[list[Join], float, int]:
    """The two earliest first, each time."""
    heap = [(ready, k, is_product) for k, (ready, is_product) in enumerate(terms)]
    heapq.heapify(heap)
    joins: list[Join] = []
    spent = 0
    while len(heap) > 1:
        a, i, a_product = heapq.heappop(heap)
        b, j, b_product = heap[0]
        spent += 1
        if a_product and b_product:
            a += ADD
            spent += 1
        joins.append((i, j))
        heapq.heapreplace(heap, (max(a, b) + ADD, len(terms) + len(joins) - 1, False))
    return joins, heap[0][0], spent


def _chained(terms: Sequence[Term], chains: int) -> tuple[list[Join], float, int]:
    """Terms as they come, each on the chain that is ready first; then the chains together."""
    joins: list[Join] = []
    spent = 0
    ends: list[tuple[float, int, bool]] = []  # of chains: ready, number, is a product

    def join(a: tuple[float, int, bool], b: tuple[float, int, bool]) -> tuple[float, int, bool]:
        nonlocal spent
        spent += 1
        early, late = (a, b) if a[0] <= b[0] else (b, a)
        ready = early[0]
        if a[2] and b[2]:
            spent += 1
            ready += ADD
        joins.append((early[1], late[1]))
        return max(ready, late[0]) + ADD, len(terms) + len(joins) - 1, False

    # of operands that come together, one that is not a product starts a chain
    for ready, is_product, k in sorted((r, p, k) for k, (r, p) in enumerate(terms)):
        term = (ready, k, is_product)
        if len(ends) < chains:
            heapq.heappush(ends, term)
        else:
            heapq.heapreplace(ends, join(ends[0], term))
    while len(ends) > 1:
        first = heapq.heappop(ends)
        heapq.heapreplace(ends, join(first, ends[0]))
    return joins, ends[0][0], spent

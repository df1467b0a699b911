"""The joints that a spanning tree takes, cheapest first: those with the fewest freedoms."""

from __future__ import annotations

import math
from collections.abc import Iterator

from codegen.topology.bodies import GROUND, Freedom, Graph
from codegen.topology.meeting import touching


def edges(graph: Graph) -> Iterator[tuple[str, str, Freedom]]:
    """Edges of the tree from the ground outwards: parent, child, and the freedom of the child."""
    pairs = graph.pairs()
    if graph.families.bodies:
        pairs = touching(graph, pairs)
    freedoms = {pair: graph.freedom(*pair) for pair in pairs}
    order = {pair: n for n, pair in enumerate(pairs)}

    def price(pair: tuple[str, str]) -> tuple[int, int, float, int]:
        # a tree that floats is named by its heaviest body, or by one that bends: others hang on its nodes
        found = freedoms[pair]
        mass = graph.mass(pair[0]) if found.count == 6 else 0.0
        if pair[0] in graph.families.bodies and found.count == 6:
            mass = math.inf
        return found.count, -len(found.scalars), -mass, order[pair]

    group = {name: name for name in (GROUND, *graph.pieces)}

    def root(name: str) -> str:
        while group[name] != name:
            group[name] = group[group[name]]
            name = group[name]
        return name

    beside: dict[str, list[str]] = {name: [] for name in group}
    for first, second in sorted(pairs, key=price):
        a, b = root(first), root(second)
        if a != b:
            group[a] = b
            beside[first].append(second)
            beside[second].append(first)
    placed, waiting = {GROUND}, [GROUND]
    file_order = {name: n for n, name in enumerate((GROUND, *graph.pieces))}
    while waiting:
        parent = waiting.pop(0)
        for child in sorted(beside[parent], key=file_order.__getitem__):
            if child in placed:
                continue
            found = freedoms.get((child, parent))
            yield parent, child, found or graph.freedom(child, parent)
            placed.add(child)
            waiting.append(child)

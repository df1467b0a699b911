"""Chains of a tree, and the bodies with several inputs that they meet at, from parents alone.

States go from the tips to the ground, so a body's inputs are the joints of what hangs on it, its output is its own
joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Chain:
    """Links one after the other: only the first one may have several inputs, or none.

    Attributes
    ----------
    links : tuple of int
        From the outer end to the inner one.
    hub : int
        The body that the last one hangs on; -1: the ground.
    number : int
        Which input of that body it is, from 1 on.
    """

    links: tuple[int, ...]
    hub: int
    number: int


@dataclass(frozen=True)
class Network:
    """All chains of a tree, each after those that are its inputs.

    Attributes
    ----------
    parents : sequence of int
        Of each link; -1: the ground.
    inputs : dict of int to list of int
        Of a body with several inputs: the numbers of their chains.
    """

    parents: Sequence[int]
    chains: list[Chain]
    inputs: dict[int, list[int]]

    @cached_property
    def tips(self) -> list[int]:
        """Links that nothing hangs on, in the order of the chains."""
        return [chain.links[0] for chain in self.chains if chain.links[0] not in self.inputs]

    @cached_property
    def roots(self) -> list[int]:
        """Chains that end on the ground."""
        return [n for n, chain in enumerate(self.chains) if chain.hub < 0]


def network(parents: Sequence[int]) -> Network:
    """Find the chains of a tree."""
    children: list[list[int]] = [[] for _ in parents]
    roots: list[int] = []
    for link, parent in enumerate(parents):
        (children[parent] if parent >= 0 else roots).append(link)
    found: list[Chain] = []
    waiting = [(root, -1, 1) for root in roots]
    while waiting:
        link, hub, number = waiting.pop()
        links = [link]
        while len(children[links[-1]]) == 1:
            links.append(children[links[-1]][0])
        head = links[-1]
        found.append(Chain(tuple(reversed(links)), hub, number))
        waiting += [(child, head, k) for k, child in enumerate(children[head], 1)]
    found.reverse()
    inputs: dict[int, list[int]] = {}
    for n, chain in enumerate(found):
        if chain.hub >= 0:
            inputs.setdefault(chain.hub, []).append(n)
    return Network(parents, found, inputs)

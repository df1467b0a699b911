"""Mass matrix and forces of a tree over its joint coordinates: what composite bodies resist, from the tips inwards.

    mass(z) zdd = force(z, zd)

The composite inertia of a link is that of all that hangs on it; a column of the mass matrix is the wrench that it
takes to accelerate it along one joint coordinate, seen by every joint on its way to the ground. `force` is all that
acts minus what the rates and weights ask for: inverse dynamics without accelerations.

Source: Walker and Orin 1982; Featherstone 1987.
"""

from __future__ import annotations

import copy
from dataclasses import replace

from codegen.expressions.dag import Expr
from codegen.system.vectors import Vector, dot
from codegen.topology.joints import SINGLE
from codegen.tree.chain import Chain, ChainLink
from codegen.tree.recursion import Loads, transmitted
from codegen.tree.spatial import ZERO, Inertia

Way = tuple[Vector, Vector]  # angular and linear acceleration of a link, in its axes


def composite_mass(chain: Chain) -> dict[tuple[int, int], Expr]:
    """The upper triangle of the mass matrix, by numbers of coordinates."""
    graph = chain.graph
    found: dict[tuple[int, int], Expr] = {}
    whole: list[Inertia | None] = [link.inertia for link in chain.links]
    for n in reversed(range(len(chain.links))):
        link, inertia = chain.links[n], whole[n]
        assert inertia is not None
        for i, way in ways(chain, link):
            push, at = inertia.times(*way), n
            while at >= 0:
                for j, other in ways(chain, chain.links[at]):
                    if at != n or j >= i:
                        e = graph.lift(dot(other[0], push.moment) + dot(other[1], push.force))
                        key = (min(i, j), max(i, j))
                        if not e.is_zero:
                            found[key] = graph.stem(e, f"mass_{key[0]}_{key[1]}")
                push = chain.links[at].passage.wrench_out(push)
                at = chain.links[at].parent
        if not graph.lift(link.rotor).is_zero:
            i = link.coordinates[0]
            found[i, i] = found.get((i, i), graph.zero) + link.rotor
        if link.parent >= 0:
            outer = whole[link.parent]
            assert outer is not None
            whole[link.parent] = outer.plus(link.passage.inertia_out(inertia))
    return found


def composite_forces(chain: Chain, loads: Loads) -> dict[int, Expr]:
    """Forces of all joint coordinates when nothing accelerates."""
    still = copy.copy(chain)
    zero = chain.graph.zero
    still.links = [replace(link, qdd=[zero] * len(link.qdd)) for link in chain.links]
    handed = transmitted(still, loads)
    found = {}
    for link, wrench in zip(chain.links, handed, strict=True):
        for i, (alpha, a) in ways(chain, link):
            needed = dot(alpha, wrench.moment) + dot(a, wrench.force)
            found[i] = loads.forces.get(i, zero) - needed
    return found


def ways(chain: Chain, link: ChainLink) -> list[tuple[int, Way]]:
    """The acceleration of a link for one unit of that of each of its coordinates."""
    if link.kind in SINGLE:
        return [(link.coordinates[0], link.way(1.0))]
    graph, found = chain.graph, []
    if link.kind == "free":
        for axis, i in enumerate(link.coordinates[:3]):
            along: Vector = tuple(float(k == axis) for k in range(3))  # type: ignore[assignment]
            found.append((i, (ZERO, link.passage.into(along))))
    for part, i in enumerate(link.coordinates[-4:]):
        unit = [graph.const(float(k == part)) for k in range(4)]
        turned = replace(link, qdd=[*link.qdd[:-4], *unit])
        found.append((i, (chain.turning_of(turned), ZERO)))
    return found

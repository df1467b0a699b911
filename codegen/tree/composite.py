"""Mass matrix and forces of a tree over its joint coordinates: what composite bodies resist, from the tips inwards.

    mass(z) zdd = force(z, zd)

The composite inertia of a link is that of all that hangs on it; a column of the mass matrix is the wrench that it
takes to accelerate it along one joint coordinate, seen by every joint on its way to the ground. `force` is all that
acts minus what the rates and weights ask for: inverse dynamics without accelerations.

Source: Walker and Orin 1982; Featherstone 1987.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace

from codegen.expressions.dag import Expr, Graph
from codegen.spatial.algebra import ZERO, Inertia, Wrench
from codegen.spatial.innovations import Whole
from codegen.spatial.rigid import RigidMass
from codegen.system.vectors import Vector, dot
from codegen.topology.joints import SINGLE
from codegen.tree.chain import Chain, ChainLink
from codegen.tree.transmission import Loads, motions_of, transmitted

Way = tuple[Vector, Vector]  # angular and linear acceleration of a link, in its axes


def composite_mass(chain: Chain) -> dict[tuple[int, int], Expr]:
    """The upper triangle of the mass matrix, by numbers of coordinates."""
    graph = chain.graph
    found: dict[tuple[int, int], Expr] = {}

    def note(i: int, j: int, e: Expr) -> None:
        key = (min(i, j), max(i, j))
        if not e.is_zero:
            found[key] = graph.stem(e, f"mass_{key[0]}_{key[1]}")

    if not any(link.modes for link in chain.links):
        # rigid bodies together are one, with fewer numbers
        for n, mass in enumerate(composite_masses(chain)):
            for i, way in ways(chain, chain.links[n]):
                for j, at, met in _met(chain, n, mass.times(*way)):
                    if at != n or j >= i:
                        note(i, j, met)
            _add_rotor(found, chain.links[n], graph)
        return found
    whole: list[Inertia | None] = [link.inertia for link in chain.links]
    bent = {n: Whole(link.modes) for n, link in enumerate(chain.links) if link.modes}
    for n in reversed(range(len(chain.links))):
        link, inertia = chain.links[n], whole[n]
        assert inertia is not None
        if n in bent and link.modes is not None:
            for i, push, row in zip(link.modes.indices, bent[n].pushes, bent[n].mass, strict=True):
                for j, e in zip(link.modes.indices, row, strict=True):
                    if j >= i:
                        note(i, j, graph.lift(e))
                for j, _, e in _met(chain, n, push):
                    note(i, j, e)
        for i, way in ways(chain, link):
            for j, at, e in _met(chain, n, inertia.times(*way)):
                if at != n or j >= i:
                    note(i, j, e)
        _add_rotor(found, link, graph)
        if link.parent >= 0:
            outer, passage = whole[link.parent], link.passage
            assert outer is not None
            if link.node is not None:
                inertia, passage = link.node.turn.inertia_out(inertia), link.node.shift
                bent[link.parent].carry(link.node, inertia)
            whole[link.parent] = outer.plus(passage.inertia_out(inertia))
    return found


def _add_rotor(found: dict[tuple[int, int], Expr], link: ChainLink, graph: Graph) -> None:
    if not graph.lift(link.rotor).is_zero:
        i = link.coordinates[0]
        found[i, i] = found.get((i, i), graph.zero) + link.rotor


def composite_masses(chain: Chain) -> list[RigidMass]:
    """Masses of each link with all that hangs on it, none of which bends, about its origin."""
    found = [mass_of(link) for link in chain.links]
    for n in reversed(range(len(found))):
        link = chain.links[n]
        if link.parent >= 0:
            found[link.parent] = found[link.parent].plus(found[n].out(link.passage))
    return found


def mass_of(link: ChainLink) -> RigidMass:
    """Mass of one link that does not bend."""
    assert link.inertia is not None
    return RigidMass(link.mass, link.first, link.inertia.turning)


def _met(chain: Chain, n: int, push: Wrench) -> Iterator[tuple[int, int, Expr]]:
    """Walk from a link to the ground: number and link of each coordinate, and the share that it sees of a wrench."""
    graph, at = chain.graph, n
    while at >= 0:
        link = chain.links[at]
        for j, other in ways(chain, link):
            yield j, at, graph.lift(dot(other[0], push.moment) + dot(other[1], push.force))
        passage = link.passage
        if link.node is not None:
            push, passage = link.node.turn.wrench_out(push), link.node.shift
            modes = chain.links[link.parent].modes
            assert modes is not None
            for j, (turn, move) in zip(modes.indices, link.node.ways, strict=True):
                yield j, at, graph.lift(dot(turn, push.moment) + dot(move, push.force))
        push = passage.wrench_out(push)
        at = link.parent


def composite_forces(chain: Chain, loads: Loads) -> dict[int, Expr]:
    """Forces of all joint coordinates when nothing accelerates."""
    still, zero = standing(chain), chain.graph.zero
    handed = transmitted(still, loads)
    found = {}
    for link, wrench in zip(chain.links, handed, strict=True):
        for i, (alpha, a) in ways(chain, link):
            needed = dot(alpha, wrench.moment) + dot(a, wrench.force)
            found[i] = loads.forces.get(i, zero) - needed
    motions = motions_of(still, loads)
    for link, motion in zip(chain.links, motions, strict=True):
        if link.modes is not None:
            needed_by = link.modes.needed(link.omega, *motion)
            found |= {
                i: loads.forces.get(i, zero) - e
                for i, e in zip(link.modes.indices, needed_by, strict=True)
            }
    for link, wrench in zip(chain.links, handed, strict=True):
        if link.node is not None:
            modes, push = chain.links[link.parent].modes, link.node.turn.wrench_out(wrench)
            assert modes is not None
            for i, (turn, move) in zip(modes.indices, link.node.ways, strict=True):
                found[i] = found[i] - (dot(turn, push.moment) + dot(move, push.force))
    return found


def standing(chain: Chain) -> Chain:
    """The same links with nothing that accelerates."""
    still, zero = copy.copy(chain), chain.graph.zero
    still.links = [
        replace(
            link,
            qdd=[zero] * len(link.qdd),
            modes=None if link.modes is None else link.modes.still(),
        )
        for link in chain.links
    ]
    return still


def ways(chain: Chain, link: ChainLink) -> list[tuple[int, Way]]:
    """The acceleration of a link for one unit of that of each of its coordinates."""
    if link.kind in SINGLE:
        return [(link.coordinates[0], link.way(1.0))]
    if link.kind in ("fixed", "node"):
        return []
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

"""Inverse dynamics of a tree: what joints hand to their links at given accelerations, and what links resist.

The ground accelerates upwards instead of weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from codegen.expressions.dag import Expr
from codegen.spatial.algebra import ZERO, Value, Wrench
from codegen.spatial.node import moved_by
from codegen.system.vectors import Vector, minus, plus, times
from codegen.topology.joints import SINGLE
from codegen.tree.chain import ChainLink, Links


@dataclass
class Loads:
    """All that acts: forces of joint coordinates, and wrenches on links about their origins, in their axes."""

    forces: dict[int, Expr] = field(default_factory=dict)
    wrenches: dict[int, Wrench] = field(default_factory=dict)
    gravity: Vector = ZERO


def transmitted(chain: Links, loads: Loads) -> list[Wrench]:
    """The wrench that each joint hands to its link, about the link's origin in its axes, at given accelerations."""
    motions = motions_of(chain, loads)
    found = [
        resisting(chain, link, loads, n, motion)
        for n, (link, motion) in enumerate(zip(chain.links, motions, strict=True))
    ]
    for n in reversed(range(len(chain.links))):
        link = chain.links[n]
        if link.parent >= 0:
            found[link.parent] = found[link.parent].plus(link.passage.wrench_out(found[n]))
    return found


def motions_of(chain: Links, loads: Loads) -> list[tuple[Vector, Vector]]:
    """Angular and linear acceleration of each link, at given accelerations of coordinates."""
    motions: list[tuple[Vector, Vector]] = []
    for link in chain.links:
        way = carried(link, motions, loads)
        modes = chain.links[link.parent].modes
        if link.node is not None and modes is not None:
            way = beside(link, way, modes.qdd)
        motions.append(with_joint(link, *way, chain=chain))
    return motions


def resisting(
    chain: Links, link: ChainLink, loads: Loads, n: int, motion: tuple[Vector, Vector]
) -> Wrench:
    """The wrench that gives a link these accelerations, beside what acts on it."""
    assert link.inertia is not None
    found = link.inertia.times(*motion)
    if link.modes is not None:
        for push, qdd in zip(link.modes.pushes, link.modes.qdd, strict=True):
            found = found.plus(Wrench(times(qdd, push.moment), times(qdd, push.force)))
    return found.plus(bias_of(chain, link, loads, n))


def given_force(chain: Links, loads: Loads, handed: list[Wrench], n: int) -> Expr:
    """The force of a guide along its joint, beside what acts there."""
    link = chain.links[n]
    along = link.along(handed[n].moment[2], handed[n].force[2])
    inertia = link.rotor * link.qdd[0]
    acting = loads.forces.get(link.coordinates[0], chain.graph.zero)
    return chain.graph.lift(along + inertia - acting)


def bias_of(chain: Links, link: ChainLink, loads: Loads, n: int) -> Wrench:
    moment, force = chain.resistance(link)
    if link.modes is not None:
        moment, force = Wrench(moment, force).plus(link.modes.resistance(link.omega))
    acting = loads.wrenches.get(n)
    if acting is None:
        return Wrench(moment, force)
    return Wrench(minus(moment, acting.moment), minus(force, acting.force))


def carried(
    link: ChainLink, motions: list[tuple[Vector, Vector]], loads: Loads
) -> tuple[Vector, Vector]:
    """Accelerations of a link whose joint stands still."""
    if link.parent < 0:
        # the ground accelerates upwards instead of weights
        alpha, a = link.passage.motion_in(ZERO, times(-1.0, loads.gravity))
    else:
        alpha, a = link.passage.motion_in(*motions[link.parent])
    return plus(alpha, link.bias_alpha), plus(a, link.bias_a)


def beside(
    link: ChainLink, way: tuple[Vector, Vector], accelerations: Sequence[Value]
) -> tuple[Vector, Vector]:
    """Accelerations of a node, from those that its frame gives it and those of the amplitudes."""
    assert link.node is not None
    alpha, a = moved_by(link.node, accelerations)
    return plus(way[0], link.passage.into(alpha)), plus(way[1], link.passage.into(a))


def with_joint(
    link: ChainLink, alpha: Vector, a: Vector, chain: Links | None = None
) -> tuple[Vector, Vector]:
    """The same with the joint's own acceleration, as `qdd` of the link has it."""
    if link.kind in SINGLE:
        turned, moved = link.way(link.qdd[0])
        return plus(alpha, turned), plus(a, moved)
    if link.kind in ("fixed", "node"):
        return alpha, a
    assert chain is not None
    alpha = plus(alpha, chain.turning_of(link))
    if link.kind == "free":
        x, y, z = link.qdd[:3]
        a = plus(a, link.passage.into((x, y, z)))
    return alpha, a

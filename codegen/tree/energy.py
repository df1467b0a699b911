"""Energies of a tree over joint coordinates."""

from __future__ import annotations

from codegen.expressions.dag import Expr
from codegen.spatial.algebra import ZERO, Value, apply
from codegen.system.system import System
from codegen.system.vectors import Vector, cross, dot, plus
from codegen.tree.chain import Chain, ChainLink


def kinetic(chain: Chain) -> Expr:
    """Kinetic energy, of rotors too."""
    graph = chain.graph
    velocities: list[Vector] = []
    found: list[tuple[float, Value]] = []
    for link in chain.links:
        v: Vector = ZERO
        if link.parent >= 0:
            up = chain.links[link.parent]
            v = plus(velocities[link.parent], cross(up.omega, link.passage.origin))
        if link.kind == "free":
            v = plus(v, (link.qd[0], link.qd[1], link.qd[2]))
        if link.node is not None:
            v = plus(v, link.node.slide)
        v = link.passage.into(v)
        if link.kind in ("slide", "screw"):
            v = plus(v, link.way(link.qd[0])[1])
        velocities.append(v)
        found += moving(link, v)
    return graph.total(found)


def moving(link: ChainLink, v: Vector) -> list[tuple[float, Value]]:
    """Terms of the kinetic energy of a link whose origin has this velocity, in its axes."""
    assert link.inertia is not None
    spin = apply(link.inertia.turning, link.omega)
    return [
        (0.5, dot(link.omega, spin)),
        (0.5, link.mass * dot(v, v)),
        (1.0, dot(v, cross(link.omega, link.first))),
        *((0.5, link.rotor * (rate * rate)) for rate in link.qd[:1]),
        *(link.modes.kinetic(link.omega, v) if link.modes else []),
    ]


def potential(system: System) -> Expr:
    """Potential energy that the elements gave, over joint coordinates by now."""
    return system.graph.zero if system.potential is None else system.potential

"""Masses that no link carries: of points, rods and slender bodies between links, and of what measures several joints.

    kinetic energy = 1/2 sum m_ab a' b',   a and b components of the file's points and vectors

Each component is an expression over the coordinates here, with a gradient and an acceleration that remains at rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codegen.expressions.dag import Expr
from codegen.system.masses import Masses
from codegen.system.system import System
from codegen.system.vectors import Vector
from codegen.topology.motion import Motion
from codegen.tree.places import Coordinates

Pair = tuple[Expr, Expr, Expr]  # components a and b, and m_ab


def loose_mass(
    system: System, masses: Masses, coordinates: Coordinates, forces: dict[int, Expr]
) -> None:
    """Add these masses to the mass matrix, and to the forces what they ask for at rest and their weights."""
    graph = system.graph
    rates = {c.q: c.qd for c in system.coordinates}
    put = coordinates.put
    weighed = [(put(a), put(b), m) for a, b, m in pairs(masses, coordinates.motion)]
    weights = list(_weights(system, masses, coordinates))
    found: dict[Expr, tuple[dict[int, Expr], Expr]] = {}
    for e in dict.fromkeys([a for a, _, _ in weighed] + [a for a, _ in weights]):
        inside = set(graph.variables(e))
        slopes = {
            c.index: slope
            for c in system.coordinates
            if c.q in inside and not (slope := graph.diff(e, c.q)).is_zero
        }
        found[e] = (slopes, graph.tangent(graph.tangent(e, rates), rates))
    for a, b, mass in weighed:
        slopes, (others, bent) = found[a][0], found[b]
        for i, slope in slopes.items():
            for j, other in others.items():
                if j >= i:
                    entry = mass * (slope * other)
                    system.mass[i, j] = system.mass.get((i, j), graph.zero) + entry
            forces[i] = forces.get(i, graph.zero) - mass * (slope * bent)
    for a, weight in weights:
        for i, slope in found[a][0].items():
            forces[i] = forces.get(i, graph.zero) + slope * weight


def pairs(masses: Masses, motion: Motion) -> Iterator[Pair]:
    """Ordered pairs of components over the file's coordinates: each off-diagonal one comes twice."""
    zero = motion.tree.system.graph.zero
    for places, matrix in _shares(masses, motion):
        for k, first in enumerate(places):
            for n, second in enumerate(places):
                if matrix[k][n].is_zero:
                    continue
                for a, b in zip(first, second, strict=True):
                    one, other = zero + a, zero + b
                    if not (one.is_const or other.is_const):
                        yield one, other, matrix[k][n]
    for c, inertia in masses.of_scalars:
        yield c.q, c.q, inertia


def _shares(masses: Masses, motion: Motion) -> Iterator[tuple[Sequence[Vector], list[list[Expr]]]]:
    """Points and vectors with the matrix of masses between them."""
    for point, var in (*masses.of_points, *masses.of_vectors):
        yield [point], [[var]]
    for ends, var in masses.of_rods:
        yield ends, [[var / 3.0, var / 6.0], [var / 6.0, var / 3.0]]
    for name, parts in masses.of_bodies.items():
        body = motion.tree.system.bodies[name]
        graph, n = motion.tree.system.graph, len(body.generators)
        weighed = [(var, body.inverse @ moment @ body.inverse.T) for var, moment in parts]
        matrix = [
            [graph.total((float(m[i, j]), var) for var, m in weighed if m[i, j]) for j in range(n)]
            for i in range(n)
        ]
        yield body.generators, matrix


def _weights(
    system: System, masses: Masses, coordinates: Coordinates
) -> Iterator[tuple[Expr, Expr]]:
    """Components and the weights on them."""
    zero, hung = system.graph.zero, [(point, var) for point, var in masses.of_points]
    hung += [(end, var / 2.0) for ends, var in masses.of_rods for end in ends]
    for name, parts in masses.of_bodies.items():
        body = coordinates.motion.tree.system.bodies[name]
        for k, generator in enumerate(body.generators):
            share = system.graph.total(
                (float((body.inverse @ moment)[k, 0]), var) for var, moment in parts
            )
            hung.append((generator, share))
    for place, mass in hung:
        for component, gravity in zip(place, system.gravity, strict=True):
            e = coordinates.put(zero + component)
            if gravity and not e.is_const and not mass.is_zero:
                yield e, gravity * mass

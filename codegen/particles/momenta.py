"""Linear and angular momentum of what hangs on each joint, and the lengths that particles keep.

With M the masses of the four particles of a link, of which each middle of two gives a quarter to either and to their
product, f_i = sum_j M_ij (r_j'' - g),

    L = sum f_i - forces + sum of L of what hangs on it
    G = sum (r_i - r_1) x f_i - moments + sum of [G + (r_1,outer - r_1) x L] of what hangs on it

a body that floats has L = 0 and G = 0, a ball G = 0, a pin the part of G along its axis, a slide the part of L along
it. Forces within joints are in none of these. Beside them stand second derivatives of the distances of particles: as
many equations as accelerations of particles.

Source: Attia 2004.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from codegen.expressions.dag import Expr, Graph
from codegen.particles.moving import Moving, Triple, dotted, less, measured_rate
from codegen.spatial.algebra import ZERO
from codegen.system import body
from codegen.system.masses import Share
from codegen.system.particles import particle_masses
from codegen.system.vectors import Vector, cross, dot, minus, plus, times

PAIRS = tuple(combinations(range(4), 2))


@dataclass
class Acting:
    """All that acts: forces of joint coordinates, and forces on places of links by (link, (1 or 0, place))."""

    gravity: Vector = ZERO
    forces: Mapping[int, Expr] = field(default_factory=dict)
    pushes: Mapping[tuple[int, tuple[float, ...]], Vector] = field(default_factory=dict)
    rotors: Mapping[int, Expr] = field(default_factory=dict)


def masses_of(graph: Graph, parts: Sequence[Share], places: np.ndarray) -> list[list[Expr]]:
    """Masses between the four particles of a link: of ten particles, its six middles shared out."""
    each = [(var, body.tidy(particle_masses(moment, places.tolist()))) for var, moment in parts]
    ten = [graph.total((float(m[k]), var) for var, m in each) for k in range(10)]
    found = [[graph.zero] * 4 for _ in range(4)]
    for i in range(4):
        found[i][i] = ten[i]
    for (i, j), m in zip(PAIRS, ten[4:], strict=True):
        quarter = 0.25 * m
        found[i][i], found[j][j] = found[i][i] + quarter, found[j][j] + quarter
        found[i][j] = found[j][i] = quarter
    return found


def momenta(moving: Moving, masses: Sequence[list[list[Expr]]], acting: Acting) -> list[Expr]:
    """Equations of Newton and Euler, one for each freedom: expressions that are zero."""
    links = moving.motion.tree.links
    linear: list[Vector] = [ZERO] * len(links)
    angular: list[Vector] = [ZERO] * len(links)
    for n, spots in enumerate(moving.spots):
        linear[n], angular[n] = _resisting(moving, spots, masses[n], acting.gravity)
    for (n, (head, *at)), push in acting.pushes.items():
        arm = np.array(at) - head * moving.fours[n].places[0]
        angular[n] = minus(angular[n], cross(moving.place(n, arm, head=0.0)[0], push))
        if head:
            linear[n] = minus(linear[n], push)
    found: list[Expr] = []
    for n in reversed(range(len(links))):
        link = links[n]
        first = moving.spots[n][0][0]
        index = link.coordinates[0]
        force = acting.forces.get(index, moving.graph.zero)
        if link.kind == "turn":
            axis = _axis(moving, n)
            rotor = acting.rotors.get(index, moving.graph.zero)
            turned = rotor * measured_rate(moving.turn(n))[1]
            found.append(dot(axis, angular[n]) + turned - force)
        elif link.kind == "slide":
            axis = moving.place(n, (0.0, 0.0, 1.0), head=0.0)[0]
            rotor = acting.rotors.get(index, moving.graph.zero)
            found.append(dot(axis, linear[n]) + rotor * moving.travel(n)[2] - force)
        else:
            found += angular[n]
            found += linear[n] if link.kind == "free" else ()
        if link.parent >= 0:
            outer = minus(first, moving.spots[link.parent][0][0])
            handed = plus(angular[n], cross(outer, linear[n]))
            angular[link.parent] = plus(angular[link.parent], handed)
            linear[link.parent] = plus(linear[link.parent], linear[n])
    return [moving.graph.lift(e) for e in found]


def lengths(moving: Moving) -> list[Expr]:
    """Second derivatives that are zero: of half squares of distances, and a slide's way across its axis."""
    found: list[Expr] = []
    for n, link in enumerate(moving.motion.tree.links):
        spots = moving.spots[n]
        if link.kind == "slide":
            way = less(spots[0], moving.carried(n, moving.fours[n].places[0], head=1.0))
            for across in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)):
                found.append(dotted(way, moving.carried(n, across, head=0.0))[2])
            continue
        pairs = [(0, 3), (1, 3)] if link.kind == "turn" else [(0, 1), (0, 3), (1, 3)]
        for i, j in pairs:
            edge = less(spots[j], spots[i])
            found.append(0.5 * dotted(edge, edge)[2])
    return found


def kinetic(moving: Moving, masses: Sequence[list[list[Expr]]], rotors: Mapping[int, Expr]) -> Expr:
    """Kinetic energy of all particles, and of rotors."""
    terms: list[tuple[float, Expr]] = []
    for n, (link, spots) in enumerate(zip(moving.motion.tree.links, moving.spots, strict=True)):
        for i in range(4):
            for j in range(i, 4):
                share = masses[n][i][j] * dot(spots[i][1], spots[j][1])
                terms.append((0.5 if i == j else 1.0, share))
        rotor = rotors.get(link.coordinates[0])
        if rotor is not None:
            rate = moving.travel(n)[1] if link.kind == "slide" else measured_rate(moving.turn(n))[0]
            terms.append((0.5, rotor * (rate * rate)))
    return moving.graph.total(terms)


def _resisting(
    moving: Moving, spots: Sequence[Triple], masses: list[list[Expr]], gravity: Vector
) -> tuple[Vector, Vector]:
    linear, angular = ZERO, ZERO
    for i in range(4):
        force = ZERO
        for j in range(4):
            force = plus(force, times(masses[i][j], minus(spots[j][2], gravity)))
        linear = plus(linear, force)
        if i:
            angular = plus(angular, cross(minus(spots[i][0], spots[0][0]), force))
    return linear, angular


def _axis(moving: Moving, n: int) -> Vector:
    """The axis of a pin."""
    edge = moving.fours[n].edges[:, 0]
    return moving.place(n, edge / np.linalg.norm(edge), head=0.0)[0]

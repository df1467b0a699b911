"""The end of a step: particles at their distances again, from the ground outwards, and angles at what these measure.

Edges are set right one after the other, lengths first, and rates across them, so that nothing drifts.
"""

from __future__ import annotations

import numpy as np

from codegen.expressions.dag import Expr
from codegen.particles.mechanism import ParticleMechanism
from codegen.particles.moving import Moving, Triple, dotted, less, measured_rate
from codegen.spatial.algebra import ZERO
from codegen.system.vectors import Vector, dot, minus, plus, times


def upright(tree: ParticleMechanism) -> tuple[dict[int, Expr], dict[int, Expr]]:
    """Coordinates and rates at the end of a step, by their numbers."""
    graph, made = tree.source.system.graph, tree.made.system.coordinates
    places: dict[int, Expr] = {}
    rates: dict[int, Expr] = {}

    def own(moving: Moving, n: int, k: int) -> Triple:
        first = tree.spots[n, k]
        given = tuple(c.q for c in made[first : first + 3])
        moved = tuple(c.qd for c in made[first : first + 3])
        found = _held(moving, tree, n, k, (given, moved, ZERO))  # type: ignore[arg-type]
        for axis in range(3):
            places[first + axis] = graph.lift(found[0][axis])
            rates[first + axis] = graph.lift(found[1][axis])
        return found

    moving = Moving(graph, tree.motion, tree.fours, own)
    links = tree.motion.tree.links
    for i, c in tree.measured.items():
        n = next(n for n, link in enumerate(links) if i in link.coordinates)
        built = tree.motion.tree.coordinates[i].initial
        if links[n].kind == "slide":
            places[c.index], rates[c.index] = (
                graph.lift(e) for e in (moving.travel(n)[0] + built, moving.travel(n)[1])
            )
            continue
        turn = moving.turn(n)
        angle = c.q - built
        # the sine of what is missing: the same to its cube
        sine = turn[1][0] * graph.call("cos", angle) - turn[0][0] * graph.call("sin", angle)
        places[c.index] = c.q + sine
        rates[c.index] = graph.lift(measured_rate(turn)[0])
    return places, rates


def _held(moving: Moving, tree: ParticleMechanism, n: int, k: int, given: Triple) -> Triple:
    """A particle at its distances from those of the link that are there."""
    kind, four = tree.motion.tree.links[n].kind, tree.fours[n]
    if kind == "slide":
        at = moving.carried(n, four.places[0], head=1.0)
        axis = moving.carried(n, (0.0, 0.0, 1.0), head=0.0)
        way, speed, _ = dotted(less(given, at), axis)
        place = plus(at[0], times(way, axis[0]))
        rate = plus(at[1], plus(times(speed, axis[0]), times(way, axis[1])))
        return place, rate, ZERO
    if k == 0:
        return given
    spots = moving.spots[n]
    graph = moving.graph
    edge = less(given, spots[0])
    if k == 1:
        length = float(np.linalg.norm(four.edges[:, 0]))
        here, rate = _of_length(moving, edge[0], edge[1], length)
        return plus(spots[0][0], here), plus(spots[0][1], rate), ZERO
    first, arm = four.edges[:, 0], four.edges[:, 1]
    size = float(np.linalg.norm(first))
    along = float(first @ arm) / size
    across = float(np.linalg.norm(arm - along / size * first))
    u, u_rate, _ = (times(1.0 / size, part) for part in less(spots[1], spots[0]))
    flat = minus(edge[0], times(dot(edge[0], u), u))
    side = times(graph.reciprocal(graph.call("sqrt", graph.lift(dot(flat, flat)))), flat)
    here = plus(times(along, u), times(across, side))
    # rates across its own edge, and across the first one as that one turns
    turned = dot(u_rate, here)
    back = plus(
        times(-1.0 * turned - dot(edge[1], u), u),
        times((along / across) * turned - dot(edge[1], side), side),
    )
    return plus(spots[0][0], here), plus(spots[0][1], plus(edge[1], back)), ZERO


def _of_length(moving: Moving, edge: Vector, rate: Vector, length: float) -> tuple[Vector, Vector]:
    graph = moving.graph
    scale = graph.reciprocal(graph.call("sqrt", graph.lift(dot(edge, edge))))
    way = times(scale, edge)
    return times(length, way), minus(rate, times(dot(rate, way), way))

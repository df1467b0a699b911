"""Slopes of the joint forces that the motion of a tree needs, link by link: the tangent of an implicit step.

    stiffness_ij + c damping_ij,   of the forces that act minus those that rates and weights ask for, symmetrised

A coordinate moves all that hangs on its link as one rigid body, so that the slope of a joint's force is a product of
two vectors of six numbers: the wrench that the deeper joint's change gives its subtree, taken out to the shallower
joint, and that joint's axis; and the wrench of the deeper axis, with the change of accelerations that the shallower
joint gives. Differentiating the recursion itself takes a sweep over all links for each coordinate.

Source: Singh, Russo and Wensing 2022 have the same slopes in spatial vectors; here velocities are beside each link's
origin, as those of `codegen.tree.chain`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from codegen.expressions.dag import Expr
from codegen.expressions.elimination import Entries
from codegen.spatial.algebra import ZERO, Value, Wrench
from codegen.spatial.quaternions import grown, length2
from codegen.spatial.rigid import Flow, Reach, RigidMass, flow_of
from codegen.system.vectors import Vector, cross, dot, minus, plus, times
from codegen.topology.joints import SINGLE
from codegen.tree.chain import Chain, ChainLink
from codegen.tree.composite import Way, composite_masses, mass_of, standing, ways
from codegen.tree.transmission import Loads, motions_of, transmitted

UNITS: tuple[Vector, ...] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Change:
    """Effect of one coordinate on its link, in the axes of that.

    Attributes
    ----------
    way : Way
        Turning and travel for one unit of it.
    omega, alpha, a : Vector
        Change of the angular velocity, of both accelerations, with the coordinate and c times its rate; that of
        accelerations is as seen from outside, with omega x the change of omega in it.
    component : Expr, optional
        Of a quaternion, that it is.
    """

    index: int
    way: Way
    omega: Vector
    alpha: Vector
    a: Vector
    component: Expr | None = None


def motion_slopes(
    chain: Chain, gravity: Vector, reaches: Mapping[int, Reach], rate_weight: float
) -> Entries:
    """The upper triangle of stiffness + c damping, without slopes of the forces that act.

    Parameters
    ----------
    reaches : dict of int to Reach
        Forces on places of links, which keep their directions in space while the places move.
    rate_weight : float
        c, by which slopes over rates are weighed.
    """
    graph, found = chain.graph, _Sums()
    still, weighed = standing(chain), Loads(gravity=gravity)
    motions, handed = motions_of(still, weighed), transmitted(still, weighed)
    changes = [
        list(_changes(chain, link, motion, rate_weight))
        for link, motion in zip(chain.links, motions, strict=True)
    ]
    masses = composite_masses(chain)
    flows = [flow_of(mass_of(link), link.omega) for link in chain.links]
    outside = [reaches.get(n, Reach()) for n in range(len(chain.links))]
    speeds = [speed_of(chain, link) for link in chain.links]
    for n in reversed(range(len(chain.links))):
        link = chain.links[n]
        if link.parent >= 0:
            flow = flows[n].out(link.passage, speeds[n], masses[n].out(link.passage))
            flows[link.parent] = flows[link.parent].plus(flow)
            outside[link.parent] = outside[link.parent].plus(outside[n].out(link.passage))
        _of_link(found, link, changes[n], (masses[n], flows[n], outside[n], handed[n]))
        for change in changes[n]:
            turned, travelled = change.way
            push = _push(change, masses[n], flows[n])
            # its own motion turns what is handed on, and takes it along
            push = push.plus(_carried(change.way, handed[n]))
            bent = times(-2.0, outside[n].moved(change.way))
            push = Wrench(plus(push.moment, bent), push.force)
            needed, met = masses[n].times(turned, travelled), flows[n].met(change.way)
            at = n
            while chain.links[at].parent >= 0:
                here = chain.links[at]
                push, needed = here.passage.wrench_out(push), here.passage.wrench_out(needed)
                met = plus(here.passage.out(met), cross(speeds[at], needed.force))
                at = here.parent
                for other in changes[at]:
                    felt = _along(push, other.way) + _along(needed, (other.alpha, other.a))
                    found.add(change.index, other.index, felt + 2.0 * dot(other.omega, met))
    return {key: 0.5 * graph.lift(e) for key, e in found.entries.items()}


class _Sums:
    """Sums by pairs of coordinates."""

    def __init__(self) -> None:
        self.entries: dict[tuple[int, int], Value] = {}

    def add(self, i: int, j: int, value: Value) -> None:
        key = (min(i, j), max(i, j))
        self.entries[key] = self.entries.get(key, 0.0) + value


def _of_link(
    found: _Sums,
    link: ChainLink,
    changes: list[Change],
    on: tuple[RigidMass, Flow, Reach, Wrench],
) -> None:
    """Pairs of coordinates of one link, twice the symmetric slope of each."""
    mass, flow, outside, handed = on
    pushes = [_push(change, mass, flow) for change in changes]
    for k, one in enumerate(changes):
        for other, push in zip(changes[k:], pushes[k:], strict=True):
            felt = _along(push, one.way) + _along(pushes[k], other.way)
            is_turned = one.component is not None and other.component is not None
            if is_turned or one is other:
                felt = felt - dot(one.way[0], outside.moved(other.way))
                felt = felt - dot(other.way[0], outside.moved(one.way))
            if other.component is not None and one.component is None:
                # the axes in which a free body travels are those of its parent
                felt = felt - dot(cross(other.way[0], one.way[1]), handed.force)
            elif one.component is not None and other.component is not None:
                # both ways lean on the length of the quaternion
                moment = minus(handed.moment, outside.moment)
                lean = one.component * dot(other.way[0], moment)
                lean = lean + other.component * dot(one.way[0], moment)
                felt = felt - (2.0 / length2(link.q[-4:])) * lean
            found.add(one.index, other.index, felt)


def _push(change: Change, mass: RigidMass, flow: Flow) -> Wrench:
    """The wrench by which a change of motion changes what a subtree takes."""
    return mass.times(change.alpha, change.a).plus(flow.turned(times(2.0, change.omega)))


def _carried(way: Way, of: Wrench) -> Wrench:
    """Change of a wrench that moves along with its link, about a point that stays."""
    omega, travel = way
    return Wrench(plus(cross(omega, of.moment), cross(travel, of.force)), cross(omega, of.force))


def _along(of: Wrench, way: Way) -> Value:
    return dot(way[0], of.moment) + dot(way[1], of.force)


def speed_of(chain: Chain, link: ChainLink) -> Vector:
    """Velocity of a link's origin beside that of its parent, in the axes of the parent."""
    omega = chain.links[link.parent].omega if link.parent >= 0 else ZERO
    moved = cross(omega, link.passage.origin)
    if link.kind in ("slide", "screw"):
        return plus(moved, link.passage.out(link.way(link.qd[0])[1]))
    if link.kind == "free":
        return plus(moved, (link.qd[0], link.qd[1], link.qd[2]))
    return moved


def _changes(
    chain: Chain, link: ChainLink, motion: tuple[Vector, Vector], c: float
) -> Iterator[Change]:
    """Effect of each coordinate of a link, with c times that of its rate."""
    omega, (alpha, a) = link.omega, motion
    if link.kind in SINGLE:
        yield _of_single(link, motion, c)
        return
    before = minus(omega, link.rate)  # of the parent, in these axes
    alpha_before = minus(alpha, cross(before, link.rate))
    p = link.q[-4:]
    for number, (index, way) in enumerate(ways(chain, link)):
        turned, travel = way
        if link.kind == "free" and number < 3:
            bent = plus(cross(alpha_before, travel), cross(before, cross(before, travel)))
            yield Change(index, way, ZERO, ZERO, bent)
            continue
        k = number - (len(link.q) - 4)
        unit = [chain.graph.const(float(part == k)) for part in range(4)]
        size = 2.0 / length2(p)
        grows = minus(times(size, grown(unit, link.qd[-4:])), times((size * p[k]), link.rate))
        left = cross(before, turned)  # -(turned x before)
        by_place = plus(left, grows)
        by_rate = turned
        both = plus(by_place, times(c, by_rate))
        bent = plus(cross(alpha_before, turned), cross(left, link.rate))
        bent = plus(bent, plus(cross(before, grows), times(c, cross(before, turned))))
        yield Change(index, way, both, plus(bent, cross(omega, both)), cross(a, turned), p[k])


def _of_single(link: ChainLink, motion: tuple[Vector, Vector], c: float) -> Change:
    """A turn, screw or slide."""
    omega, (alpha, a) = link.omega, motion
    turned, travel = way = link.way(1.0)
    moved = cross(omega, travel)
    bent = plus(plus(cross(alpha, travel), cross(omega, moved)), times(2.0 * c, moved))
    if link.kind == "slide":
        return Change(link.coordinates[0], way, ZERO, ZERO, bent)
    swung = cross(omega, turned)
    both = plus(swung, times(c, turned))
    swings = plus(cross(alpha, turned), times(c, swung))
    return Change(
        link.coordinates[0],
        way,
        both,
        plus(swings, cross(omega, both)),
        plus(cross(a, turned), bent),
    )

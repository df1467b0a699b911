"""Bodies and joints of a mechanism as a spanning tree: links in joint coordinates, and what does not fit into it.

The tree takes the joints with the fewest freedoms first, so that what is cut is cheap to close again. What is left
is tried out: a row that does not hold wherever the joints of the tree go is a cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from codegen.expressions.dag import Expr
from codegen.system.body import is_moving
from codegen.system.system import System
from codegen.system.vectors import Vector
from codegen.topology.bodies import GROUND, Freedom, Graph
from codegen.topology.edges import edges
from codegen.topology.joints import SINGLE, Kind, Single, taken_apart
from codegen.topology.linear import SMALL

# of the coordinates of each kind of joint: endings of their names where the file has none, and units
TURNS = ("e0", "e1", "e2", "e3")


@dataclass(frozen=True)
class JointCoordinate:
    """A coordinate of the tree; `scalar` is the angle or distance of the file that it is, if any."""

    name: str
    unit: str
    initial: float
    scalar: Expr | None = None


@dataclass
class Link:
    """A part that moves as a whole: a body, all that is fixed to it, or a massless part between two single joints.

    Attributes
    ----------
    parent : int
        Number of the link that it moves on; -1: the ground.
    coordinates : tuple of int
        One of a turn, screw or slide, four of a ball (a unit quaternion), three and four of a free body.
    bodies : list of str
        Those that are this link; none of a massless part.
    bends : str
        The body that bends whose frame this is, if any; of a node its own body.
    amplitudes : tuple of int
        Coordinates of that body's modes.
    axis : ndarray, shape (3,), or None
        Of a joint on a node, in the assembled pose.
    """

    name: str
    parent: int
    single: Single
    coordinates: tuple[int, ...]
    bodies: list[str] = field(default_factory=list)
    bends: str = ""
    amplitudes: tuple[int, ...] = ()
    axis: np.ndarray | None = None

    @property
    def kind(self) -> Kind:
        return self.single.kind

    @property
    def freedoms(self) -> int:
        """Freedoms of joint and modes: a quaternion has four coordinates for three."""
        own = 0 if self.kind == "node" else len(self.amplitudes)
        return len(self.coordinates) - (self.kind in ("ball", "free")) + own


@dataclass(frozen=True)
class Cut:
    """A condition that the tree does not keep: the element that brings it, and why."""

    element: str
    problem: str


@dataclass
class Tree:
    """A spanning tree.

    Attributes
    ----------
    place : dict of str to int
        The link of each body; -1: the ground.
    scalars : dict of Expr to (dict of int to float, float)
        Angles and distances of the file as sums over joint coordinates.
    cuts : list of Cut
        What the tree does not keep; none of an open chain.
    """

    system: System
    graph: Graph
    links: list[Link] = field(default_factory=list)
    coordinates: list[JointCoordinate] = field(default_factory=list)
    place: dict[str, int] = field(default_factory=lambda: {GROUND: -1})
    scalars: dict[Expr, tuple[dict[int, float], float]] = field(default_factory=dict)
    cuts: list[Cut] = field(default_factory=list)

    def carrier(self, points: Sequence[Vector], kind: str = "point") -> str | None:
        """The body, nearest to the ground, that all of these points, or vectors, are fixed on."""
        if not any(is_moving(point) for point in points):
            return GROUND
        moving = [point for point in points if is_moving(point)]
        carriers = self.graph.carriers
        on = set.intersection(*(carriers.get((kind, point), set()) for point in moving))
        # a fixed point beside a moving one is on no body but by chance
        if len(moving) < len(points):
            on &= carriers.get((kind, next(p for p in points if p not in moving)), set())
        return min(
            (name for name in on if name in self.place), key=lambda n: self.place[n], default=None
        )

    def children(self, link: int) -> list[int]:
        return [n for n, other in enumerate(self.links) if other.parent == link]


def spanning_tree(system: System) -> Tree:
    """The tree of a system in its assembled pose; what is no rigid body on it is among the cuts."""
    graph = Graph(system)
    tree = Tree(system, graph)
    for name in graph.shapeless:
        problem = "has no orientation of its own: its points and vectors leave a turn open"
        tree.cuts.append(Cut(f"rigid_body/{name}", problem))
    names = _Names()
    for parent, child, freedom in edges(graph):
        _hang(tree, names, parent, child, freedom)
    return tree


def _hang(tree: Tree, names: _Names, parent: str, child: str, freedom: Freedom) -> None:
    families = tree.graph.families
    if child in families.nodes and families.head(child) == parent:
        _hang_node(tree, parent, child)
        return
    if parent in families.nodes and families.head(parent) == child:
        problem = f"hangs on its node {parent}, which moves beside its frame"
        tree.cuts.append(Cut(f"flexible_body/{child}", problem))
        parent, freedom = GROUND, tree.graph.freedom(child, GROUND)
    singles = taken_apart(freedom.twists)
    if singles is None and freedom.count == 2:
        singles = _universal(tree, parent, child, freedom)
    if singles is None:
        problem = (
            f"moves beside {parent} with {freedom.count} freedoms that are no pin, screw, slide, cylinder, plane or "
            "ball; write single joints with a massless body between them"
        )
        tree.cuts.append(Cut(f"rigid_body/{child}", problem))
        singles = [Single("free", np.zeros(6))]
        parent = GROUND
    at = tree.place[parent]
    if not singles and child in families.bodies:
        singles = [Single("fixed", np.zeros(6))]
    if singles and singles[0].kind == "turn" and at >= 0 and tree.links[at].kind == "node":
        node = tree.links[at]
        node.axis = singles[0].twist[:3] if node.axis is None else node.axis
    if not singles:
        tree.place[child] = at
        if at >= 0:
            tree.links[at].bodies.append(child)
        return
    for number, single in enumerate(singles):
        is_last = number == len(singles) - 1
        scalar, rate = _scalar(single, freedom, tree)
        if rate < 0.0:
            single = Single(single.kind, -single.twist)
        if single.kind == "turn" and number > 1:
            # slides lead anywhere: about the body's first point
            omega = single.twist[:3]
            at_point = [tree.graph.value(c) for c in tree.graph.pieces[child].body.generators[0]]
            single = Single("turn", np.concatenate([omega, np.cross(at_point, omega)]))
        first = len(tree.coordinates)
        tree.coordinates += _named(tree, names, child, single, scalar)
        coordinates = tuple(range(first, len(tree.coordinates)))
        if scalar is not None:
            tree.scalars[scalar] = ({first: 1.0}, 0.0)
        name = child if is_last else f"{child} {tree.coordinates[first].name}"
        link = Link(name, at, single, coordinates, [child] if is_last else [])
        if is_last and child in families.bodies:
            link.bends, link.amplitudes = child, _modes_of(tree, names, child)
        tree.links.append(link)
        at = len(tree.links) - 1
    tree.place[child] = at


def _hang_node(tree: Tree, frame: str, node: str) -> None:
    at = tree.place[frame]
    link = Link(node, at, Single("node", np.zeros(6)), (), [node], frame, tree.links[at].amplitudes)
    tree.links.append(link)
    tree.place[node] = len(tree.links) - 1


def _modes_of(tree: Tree, names: _Names, body: str) -> tuple[int, ...]:
    """Coordinates of the modes of a body that bends."""
    first = len(tree.coordinates)
    for c in tree.graph.families.bodies[body].amplitudes:
        owner = tree.system.owner(c.q)
        assert owner is not None
        tree.scalars[c.q] = ({len(tree.coordinates): 1.0}, 0.0)
        made = JointCoordinate(names.new(owner.name), owner.unit, owner.initial, c.q)
        tree.coordinates.append(made)
    return tuple(range(first, len(tree.coordinates)))


def _universal(tree: Tree, parent: str, child: str, freedom: Freedom) -> list[Single] | None:
    """Two turns about the pins of a universal joint, first that of the parent."""
    pieces = tree.graph.pieces
    for joint in tree.system.joints.values():
        if joint.pins is None or {joint.first, joint.second} != {parent, child}:
            continue
        pins = dict(zip((joint.first, joint.second), joint.pins, strict=True))
        found = []
        for name in (parent, child):
            pose = pieces[name].pose if name in pieces else np.eye(4)
            at = (pose @ np.array([1.0, *joint.point]))[1:]
            omega = pose[1:, 1:] @ np.array(pins[name])
            found.append(Single("turn", np.concatenate([omega, np.cross(at, omega)])))
        twists = np.array([single.twist for single in found]).T
        if np.max(np.abs(freedom.twists @ (freedom.twists.T @ twists) - twists)) < SMALL:
            return found
    return None


def _scalar(single: Single, freedom: Freedom, tree: Tree) -> tuple[Expr | None, float]:
    """The angle or distance of the file that measures a joint, and its sign."""
    if single.kind in SINGLE:
        for var, slope in freedom.scalars.items():
            rate = float(slope @ single.twist)
            if abs(abs(rate) - 1.0) < 1e-6 and var not in tree.scalars:
                return var, rate
    return None, 1.0


def _named(
    tree: Tree, names: _Names, child: str, single: Single, scalar: Expr | None
) -> list[JointCoordinate]:
    if scalar is not None:
        owner = tree.system.owner(scalar)
        assert owner is not None
        return [JointCoordinate(names.new(owner.name), owner.unit, owner.initial, scalar)]
    if single.kind == "fixed":
        return []
    if single.kind in ("turn", "screw"):
        return [JointCoordinate(names.new(f"{child}_turn"), "rad", 0.0)]
    if single.kind == "slide":
        way = single.twist[3:]
        letter = next((a for a, x in zip("xyz", way, strict=True) if abs(x) == 1.0), "travel")
        return [JointCoordinate(names.new(f"{child}_{letter}"), "m", 0.0)]
    found = []
    if single.kind == "free":
        at = tree.graph.pieces[child]
        start = [tree.graph.value(c) for c in at.body.generators[0]]
        found = [
            JointCoordinate(names.new(f"{child}_{a}"), "m", x)
            for a, x in zip("xyz", start, strict=True)
        ]
    return found + [
        JointCoordinate(names.new(f"{child}_{ending}"), "1", float(ending == "e0"))
        for ending in TURNS
    ]


class _Names:
    """Names of coordinates, each once."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def new(self, wanted: str) -> str:
        name = wanted
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

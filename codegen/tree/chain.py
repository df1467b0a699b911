"""The links of a tree as expressions over joint coordinates: passages to the parents, masses, motion.

Accelerations are those of points (the second derivative of a position, in the link's axes), so that linear velocities
are in nothing that is needed to find them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from codegen.expressions.dag import Expr, Graph
from codegen.spatial.algebra import ZERO, Inertia, Matrix, Passage, Value, apply, skew
from codegen.spatial.modes import Modes
from codegen.spatial.node import NodeMotion, node_motion
from codegen.spatial.quaternions import grown, length2, quaternion_matrix
from codegen.system import body
from codegen.system.system import Coordinate, System
from codegen.system.vectors import Vector, cross, plus, times
from codegen.topology.joints import SINGLE
from codegen.topology.motion import Motion
from codegen.tree.passages import angle, numbers_of, passage


@dataclass
class ChainLink:
    """One link.

    Attributes
    ----------
    kind : str
        "turn", "screw", "slide", "ball" or "free"; "fixed" of a body that bends, "node" of a node of one. With
        `is_guided` its motion is given.
    q, qd, qdd : list of Expr
    passage : Passage
        To the parent's axes and origin.
    rate, acceleration : Vector
        Of a ball or free body: its angular velocity and acceleration beside the parent, in its own axes.
    omega : Vector
        Angular velocity, in its own axes.
    bias_alpha, bias_a : Vector
        What the rates add to the accelerations of the parent.
    lead : Expr or float
        Of a screw: travel for one rad.
    mass, first : Expr and Vector
        Mass, and mass times centre, from the link's origin.
    inertia : Inertia
        About the origin.
    modes : Modes, optional
        Of a body that bends.
    node : NodeMotion, optional
        Of a node beside its frame.
    """

    name: str
    parent: int
    kind: str
    coordinates: tuple[int, ...]
    is_guided: bool
    q: list[Expr]
    qd: list[Expr]
    qdd: list[Expr]
    passage: Passage
    mass: Value = 0.0
    first: Vector = ZERO
    inertia: Inertia | None = None
    rotor: Value = 0.0
    rate: Vector = ZERO
    omega: Vector = ZERO
    bias_alpha: Vector = ZERO
    bias_a: Vector = ZERO
    modes: Modes | None = None
    node: NodeMotion | None = None
    lead: Value = 0.0

    def way(self, rate: Value) -> tuple[Vector, Vector]:
        """Turning and travel of a turn, screw or slide, in the link's axes, for a rate or acceleration of it."""
        if self.kind == "slide":
            return ZERO, (0.0, 0.0, rate)
        travel: Vector = (0.0, 0.0, self.lead * rate) if self.kind == "screw" else ZERO
        return (0.0, 0.0, rate), travel

    def along(self, moment: Value, force: Value) -> Value:
        """The part of a moment and a force about and along its axis that a turn, screw or slide feels."""
        if self.kind == "screw":
            return moment + self.lead * force
        return force if self.kind == "slide" else moment

    def weigh(self, mass: Value, first: Vector, turning: Matrix) -> None:
        """Give it mass, mass times centre, and the matrix of its second moments about the origin."""
        self.mass, self.first = mass, first
        moving: Matrix = [[mass if i == j else 0.0 for j in range(3)] for i in range(3)]
        self.inertia = Inertia(turning, skew(first), moving)


class Links:
    """Links with what their joints do; the algebra of one link beside its parent.

    Attributes
    ----------
    links : list of ChainLink
        Each after its parent.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.links: list[ChainLink] = []

    def add(self, link: ChainLink, numbers: Sequence[Value], moved: Sequence[Value]) -> None:
        """One more link, on a parent that is there."""
        link.passage = passage(link.kind, numbers, moved)
        self.links.append(link)

    def moved(self, link: ChainLink, numbers: Sequence[Value]) -> list[Value]:
        """Cosines and sines of its joint, or what stands for them: see `passage`."""
        if link.kind in ("turn", "screw"):
            at = angle(link.q[0], numbers)
            turned: list[Value] = [self.graph.call("cos", at), self.graph.call("sin", at)]
            return turned if link.kind == "turn" else [*turned, link.q[0]]
        if link.kind == "slide":
            return [link.q[0]]
        if link.kind == "fixed":
            return []
        return [*link.q[:-4], *(e for row in quaternion_matrix(link.q[-4:]) for e in row)]

    def move(self, link: ChainLink) -> None:
        """Angular velocity, and what the rates add to accelerations."""
        up = self.links[link.parent] if link.parent >= 0 else None
        before = up.omega if up else ZERO
        if link.node is not None:
            node, into = link.node, link.passage.into
            link.omega = into(plus(before, node.rate))
            link.bias_alpha = into(plus(cross(before, node.rate), node.bent))
            slides = cross(before, times(2.0, node.slide))
            link.bias_a = into(plus(cross(before, cross(before, link.passage.origin)), slides))
            return
        carried = link.passage.into(before)
        link.rate = self.rate_of(link)
        link.omega = plus(carried, link.rate)
        link.bias_alpha = cross(carried, link.rate)
        origin = link.passage.origin
        swung = cross(before, cross(before, origin)) if link.parent >= 0 else ZERO
        link.bias_a = link.passage.into(swung)
        if link.kind in ("slide", "screw"):
            travel = link.way(link.qd[0])[1]
            link.bias_a = plus(link.bias_a, cross(times(2.0, link.omega), travel))

    def rate_of(self, link: ChainLink) -> Vector:
        """Angular velocity beside the parent, in the link's axes."""
        if link.kind in SINGLE:
            return link.way(link.qd[0])[0]
        if link.kind == "fixed":
            return ZERO
        p, rates = link.q[-4:], link.qd[-4:]
        return times(2.0 / length2(p), grown(p, rates))

    def turning_of(self, link: ChainLink) -> Vector:
        """Angular acceleration of a ball or free body beside the parent, but for what omega adds."""
        p = link.q[-4:]
        return times(2.0 / length2(p), grown(p, link.qdd[-4:]))

    def rates_of_quaternion(self, link: ChainLink, turning: Vector) -> list[Expr]:
        """Second derivatives of a quaternion of steady length, from the angular acceleration beside the parent."""
        p, rates = link.q[-4:], link.qd[-4:]
        e0, e1, e2, e3 = p
        x, y, z = times(0.5, turning)
        shrink = length2(rates) / length2(p)
        back = (
            -e1 * x - e2 * y - e3 * z,
            e0 * x - e3 * y + e2 * z,
            e3 * x + e0 * y - e1 * z,
            -e2 * x + e1 * y + e0 * z,
        )
        return [b - shrink * e for b, e in zip(back, p, strict=True)]

    def resistance(self, link: ChainLink) -> tuple[Vector, Vector]:
        """Moment and force that keep a link's rates as they are: omega x I omega, omega x (omega x m c)."""
        assert link.inertia is not None
        x, y, z = link.omega
        xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
        i = link.inertia.turning
        moment = (
            (i[2][2] - i[1][1]) * yz + i[1][2] * (yy - zz) + (i[0][2] * xy - i[0][1] * xz),
            (i[0][0] - i[2][2]) * xz + i[0][2] * (zz - xx) + (i[0][1] * yz - i[1][2] * xy),
            (i[1][1] - i[0][0]) * xy + i[0][1] * (xx - yy) + (i[1][2] * xz - i[0][2] * yz),
        )
        spin: Matrix = [[-(yy + zz), xy, xz], [xy, -(xx + zz), yz], [xz, yz, -(xx + yy)]]
        return moment, apply(spin, link.first)


class Chain(Links):
    """All links of a tree, in joint coordinates of a system that has them.

    Parameters
    ----------
    is_stored : bool
        What the joints do is no expression here, since the step finds it link by link and stores it.
    is_ruthless : bool
        Bodies that bend are linearised ruthlessly, see `codegen.spatial.modes`.
    """

    def __init__(
        self,
        motion: Motion,
        coordinates: Sequence[Coordinate],
        masses: System,
        graph: Graph,
        *,
        is_stored: bool = False,
        is_ruthless: bool = False,
    ) -> None:
        super().__init__(graph)
        self.motion = motion
        self.tree = motion.tree
        guided = {guide.coordinate.name: guide.inputs for guide in masses.guides}
        for n, link in enumerate(self.tree.links):
            own = [coordinates[i] for i in link.coordinates]
            inputs = guided.get(own[0].name) if len(own) == 1 else None
            made = ChainLink(
                name=link.name,
                parent=link.parent,
                kind=link.kind,
                coordinates=link.coordinates,
                is_guided=inputs is not None,
                q=[c.q for c in own],
                qd=[c.qd for c in own],
                qdd=[graph.var(f"qdd {c.index}") for c in own],
                passage=Passage([]),
                lead=link.single.lead,
            )
            if is_stored:
                self.links.append(made)
                continue
            if n in motion.nodes:
                modes = self.links[link.parent].modes
                assert modes is not None
                made.node = node_motion(graph, motion.nodes[n], modes.q, modes.qd)
                made.passage = made.node.passage
                self.links.append(made)
            else:
                numbers = numbers_of(motion, n)
                self.add(made, numbers, self.moved(made, numbers))
            if n in motion.bent:
                own = [coordinates[i] for i in link.amplitudes]
                bent = [graph.var(f"qdd {c.index}") for c in own]
                states = [c.q for c in own], [c.qd for c in own], bent
                made.modes = Modes(
                    graph, motion.bent[n], link.amplitudes, states, is_ruthless=is_ruthless
                )
            self.move(made)
        self._weigh(masses)

    def up(self, link: int) -> ChainLink | None:
        """The link that it moves on; None: the ground."""
        parent = self.links[link].parent
        return self.links[parent] if parent >= 0 else None

    def _weigh(self, masses: System) -> None:
        """Mass, first and second moments of every link, over parameters."""
        graph = self.graph
        moments: list[list[tuple[Expr, np.ndarray]]] = [[] for _ in self.links]
        for place, share in shares_on_links(self.motion, masses):
            if place >= 0:
                moments[place].append(share)
        for link, parts in zip(self.links, moments, strict=True):
            parts = [(var, body.tidy(matrix)) for var, matrix in parts]

            def entry(i: int, j: int, parts=parts) -> Expr:
                return graph.total((float(m[i, j]), var) for var, m in parts if m[i, j])

            turning: Matrix = [[0.0] * 3 for _ in range(3)]
            for i in range(3):
                j, k = (i + 1) % 3, (i + 2) % 3
                turning[i][i] = graph.total(
                    (float(m[j + 1, j + 1] + m[k + 1, k + 1]), var) for var, m in parts
                )
                turning[j][k] = turning[k][j] = graph.total(
                    (-float(m[j + 1, k + 1]), var) for var, m in parts
                )
            first = (entry(0, 1), entry(0, 2), entry(0, 3))
            if link.modes is None:
                link.weigh(entry(0, 0), first, turning)
                continue
            bent = link.modes.turning()
            turning = [[turning[i][j] + bent[i][j] for j in range(3)] for i in range(3)]
            link.weigh(entry(0, 0) + link.modes.total, plus(first, link.modes.first), turning)


def shares_on_links(motion: Motion, system: System) -> list[tuple[int, tuple[Expr, np.ndarray]]]:
    """All masses, each on its link and as a share in that link's frame."""
    tree, found = motion.tree, []

    def put(name: str | None, var: Expr, matrix: np.ndarray, pose: np.ndarray) -> None:
        assert name is not None  # it is refused before
        link = tree.place[name]
        onto = pose if link < 0 else motion.inverse[link] @ pose
        found.append((link, (var, onto @ matrix @ onto.T)))

    for name, parts in system.masses.of_bodies.items():
        for var, matrix in parts:
            put(name, var, matrix, tree.graph.pieces[name].pose)
    for point, var in system.masses.of_points:
        at = np.array([1.0, *(tree.graph.value(c) for c in point)])
        put(tree.carrier([point]), var, np.outer(at, at), np.eye(4))
    for vector, var in system.masses.of_vectors:
        way = np.array([0.0, *(tree.graph.value(c) for c in vector)])
        put(tree.carrier([vector], "vector"), var, np.outer(way, way), np.eye(4))
    for ends, var in system.masses.of_rods:
        a, b = (np.array([1.0, *(tree.graph.value(c) for c in end)]) for end in ends)
        across = np.outer(a, b)
        matrix = (np.outer(a, a) + np.outer(b, b)) / 3.0 + (across + across.T) / 6.0
        put(tree.carrier(list(ends)), var, matrix, np.eye(4))
    return found

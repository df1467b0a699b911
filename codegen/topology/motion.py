"""The tree in numbers: where its bodies and the mechanism's own coordinates are for any joint coordinates.

Slow and obvious: it finds the rows that the tree does not keep, and the rates at the start. Generated twins have
the same in `codegen/tree/articulated.py.in`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from codegen.expressions.dag import Expr, evaluate
from codegen.system.affine import affine
from codegen.system.body import Body
from codegen.system.system import System
from codegen.system.vectors import Vector
from codegen.topology.bending import bent_frame
from codegen.topology.bodies import GROUND
from codegen.topology.frames import frames, node_of
from codegen.topology.joints import Single
from codegen.topology.tree import Cut, Tree, spanning_tree

OPEN = 1e-9  # m or rad; of a row that holds wherever the joints go
SAMPLES = 2
FAR = {"rad": 1.0, "m": 0.3, "1": 0.5}
LITTLE = 1e-6  # m and rad, by each amplitude: joints on nodes are the same to first order only


def topology(system: System) -> Motion:
    """The tree of a system, with frames, the file's coordinates on it, and everything that is cut."""
    tree = spanning_tree(system)
    motion = Motion(tree, frames(tree))
    add_scalars(motion)
    tree.cuts += find_cuts(motion)
    return motion


class Motion:
    """Places on the links, found once."""

    def __init__(self, tree: Tree, frames: Sequence[np.ndarray]) -> None:
        self.tree, self.frames = tree, frames
        self.inverse = [np.linalg.inv(frame) for frame in frames]
        self.bent = {
            n: bent_frame(tree.graph.families.bodies[link.bends], tree.graph, frames[n])
            for n, link in enumerate(tree.links)
            if link.bends and link.kind != "node"
        }
        self.nodes = {
            n: node_of(tree, n, list(frames))
            for n, link in enumerate(tree.links)
            if link.kind == "node"
        }
        system = tree.system
        # each natural coordinate as a component of a point or direction of a body, nearest to the ground
        self.on_links: dict[Expr, tuple[int, np.ndarray, int]] = {}
        # points and vectors of bodies on every link that they are on
        self.carried: dict[tuple[str, Vector], dict[int, np.ndarray]] = {}
        for (kind, vector), bodies in tree.graph.carriers.items():
            placed = [name for name in bodies if name in tree.place]
            if not placed:
                continue
            links = sorted({tree.place[name] for name in placed})
            now = np.array([float(kind == "point"), *(tree.graph.value(c) for c in vector)])
            self.carried[kind, vector] = {link: self._put(link, now) for link in links}
            for axis, component in enumerate(vector):
                if isinstance(component, Expr) and component.op == "var":
                    nearest = self.on_links.get(component)
                    if nearest is None or links[0] < nearest[0]:
                        place = self.carried[kind, vector][links[0]]
                        self.on_links[component] = (links[0], place, axis)
        self.loose = [
            c
            for c in system.coordinates
            if c.q not in self.on_links and c.q not in tree.scalars and c.q not in system.defined
        ]

    def on_link(self, body: str, built: np.ndarray) -> np.ndarray:
        """(1, position) or (0, direction) in the file's pose, as it is in the frame of the body's link."""
        pose = self.tree.graph.pieces[body].pose if body != GROUND else np.eye(4)
        link = self.tree.place[body]
        if body in self.tree.graph.families.nodes and link in self.nodes:
            # as it is where nothing bends
            place = self._put(self.tree.links[link].parent, pose @ built)
            place[1:] -= built[0] * self.nodes[link].at
            return np.where(np.abs(place) < 1e-13, 0.0, place)
        return self._put(link, pose @ built)

    def _put(self, link: int, now: np.ndarray) -> np.ndarray:
        """A place of the assembled pose in the frame of a link."""
        place = np.array(now if link < 0 else self.inverse[link] @ now, dtype=float)
        place[0] = round(float(now[0]))
        return np.where(np.abs(place) < 1e-13, 0.0, place)

    def poses(self, z: np.ndarray) -> list[np.ndarray]:
        """Return the poses of all links, 4 x 4."""
        found: list[np.ndarray] = []
        for n, link in enumerate(self.tree.links):
            parent = found[link.parent] if link.parent >= 0 else np.eye(4)
            if link.kind == "node":
                found.append(parent @ self.nodes[n].pose(z[list(link.amplitudes)]))
                continue
            before = self.inverse[link.parent] if link.parent >= 0 else np.eye(4)
            place = parent @ before @ self.frames[n]
            values = [z[i] for i in link.coordinates]
            built = [self.tree.coordinates[i].initial for i in link.coordinates]
            found.append(place @ moved(link.single, values, built))
        return found

    def natural(self, z: np.ndarray) -> dict[Expr, Any]:
        """Values of the mechanism's own coordinates that the tree gives; complex where z is."""
        poses = [*self.poses(z), np.eye(4)]
        found = {
            var: (poses[link] @ place)[1 + axis]
            for var, (link, place, axis) in self.on_links.items()
        }
        for var, (weights, offset) in self.tree.scalars.items():
            found[var] = offset + sum(k * z[i] for i, k in weights.items())
        defined = self.tree.system.defined
        if defined and not np.iscomplexobj(z):
            at = {var.name: value for var, value in found.items()}
            found |= {var: evaluate(e, at) for var, (e, _) in defined.items()}
        return found

    def jacobian(self, z: np.ndarray) -> dict[Expr, np.ndarray]:
        """Slopes of these over the joint coordinates, by complex steps: exact to round-off."""
        here = self.natural(z)
        found = {var: np.zeros(len(z)) for var in here}
        for i in range(len(z)):
            step = np.zeros(len(z), dtype=complex)
            step[i] = 1e-30j
            ahead = self.natural(z + step)
            for var, column in found.items():
                column[i] = np.imag(ahead[var]) / 1e-30 if var in ahead else 0.0
        graph, at = self.tree.system.graph, {var.name: value for var, value in here.items()}
        for var, (e, _) in self.tree.system.defined.items():
            found[var] = np.sum(
                [evaluate(graph.diff(e, v), at) * found[v] for v in graph.variables(e)], axis=0
            )
        return found

    @property
    def start(self) -> np.ndarray:
        return np.array([c.initial for c in self.tree.coordinates])

    def somewhere(self, seed: int) -> np.ndarray:
        """Joint coordinates far from those of the file, the same each time."""
        rng = np.random.default_rng(seed)
        sizes = np.array([FAR[c.unit] for c in self.tree.coordinates])
        turned = {
            amplitude.name: max(float(np.abs(node.shape[3:, i]).max()) for node in body.modes.nodes.values())
            for body in self.tree.system.flexible.values()
            for i, amplitude in enumerate(body.amplitudes)
        }  # fmt: skip
        for link in self.tree.links:
            for k in link.amplitudes:
                # a thin rod turns by a thousand rad a metre of its twist
                sizes[k] = LITTLE / max(1.0, turned[self.tree.coordinates[k].name])
        z = self.start + sizes * rng.uniform(-1.0, 1.0, len(sizes))
        for link in self.tree.links:
            if link.kind in ("ball", "free"):
                last = list(link.coordinates[-4:])
                z[last] /= np.linalg.norm(z[last])
        return z


def moved(single: Single, values: Sequence[float], built: Sequence[float]) -> np.ndarray:
    """Displacement of a joint in its own frame, from where it was built."""
    kind, made = single.kind, np.eye(4, dtype=np.asarray(values).dtype)
    if kind == "fixed":
        return made
    if kind in ("turn", "screw"):
        turn = values[0] - built[0]
        c, s = np.cos(turn), np.sin(turn)
        made[1:3, 1:3], made[3, 0] = [[c, -s], [s, c]], single.lead * turn
    elif kind == "slide":
        made[3, 0] = values[0] - built[0]
    else:
        if kind == "free":
            made[1:, 0] = np.subtract(values[:3], built[:3])
        e0, e = values[-4], np.array(values[-3:])
        cross = np.array([[0.0, -e[2], e[1]], [e[2], 0.0, -e[0]], [-e[1], e[0], 0.0]])
        made[1:, 1:] = np.eye(3) + 2.0 / (e0 * e0 + e @ e) * (e0 * cross + cross @ cross)
    return made


def add_scalars(motion: Motion) -> None:
    """Angles and distances that measure no single joint, as sums over joint coordinates where they are that."""
    tree, graph = motion.tree, motion.tree.graph
    waiting = [c for c in motion.loose if c.q in graph.scalars]
    if not waiting:
        return
    slopes = motion.jacobian(motion.start)
    for c in waiting:
        for r, inside in graph.rows:
            if c.q not in inside or not all(v in slopes or v is c.q for v in inside):
                continue
            gradient = graph.slopes(r)
            if abs(gradient[c.q]) < 1e-3:
                continue
            pull = np.zeros(len(motion.start))
            for v in inside - {c.q}:
                pull -= gradient[v] * slopes[v]
            rate = pull / gradient[c.q]
            weights = {i: float(f"{k:.14g}") for i, k in enumerate(rate) if abs(k) > 1e-12}
            offset = c.initial - sum(k * motion.start[i] for i, k in weights.items())
            tree.scalars[c.q] = (weights, offset)
            break
    motion.loose = [c for c in motion.loose if c.q not in tree.scalars]


def keep_guided(motion: Motion) -> None:
    """Keep a guided coordinate that is no joint's as one of its own, bound by a row."""
    known = {c.scalar for c in motion.tree.coordinates} | {c.q for c in motion.loose}
    motion.loose += [
        guide.coordinate for guide in motion.tree.system.guides if guide.coordinate.q not in known
    ]


def find_cuts(motion: Motion) -> list[Cut]:
    """Rows that do not hold wherever the joints go, and bodies that share what the tree lets part."""
    tree = motion.tree
    system, graph = tree.system, tree.graph
    cuts: dict[str, str] = {}
    for c in motion.loose:
        what, _, axis = c.name.rpartition("_")
        name = what if axis in ("x", "y", "z") and c.unit != "rad" else c.name
        cuts.setdefault(f"{name}", "is on no rigid body, and measures no joint")
    loose = {c.q for c in motion.loose}
    fixed = {p.var.name: p.default for p in (*system.parameters, *system.signals)}
    shapes: dict[
        str, str
    ] = {}  # of bodies that are put out of shape by what they share with others
    for seed in range(SAMPLES):
        z = motion.somewhere(seed)
        found = motion.natural(z)
        at = {var.name: value for var, value in found.items()} | fixed
        poses = [*motion.poses(z), np.eye(4)]
        cuts |= _shared(motion, poses)
        for r, inside in graph.rows:
            row = system.rows[r]
            element, _, what = row.label.partition(" ")
            if inside & loose:
                cuts.setdefault(element, "is about what is on no rigid body")
            elif abs(evaluate(row.phi, at)) > OPEN:
                is_shape = element.startswith(("rigid_body/", "flexible_body/"))
                told = shapes if is_shape else cuts
                condition = f"its condition {what!r}" if what else "it"
                words = f"closes a loop: the other joints do not keep {condition}"
                told.setdefault(element, words)
        for name, piece in graph.pieces.items():
            if piece.uses & loose or name in graph.families.nodes:
                continue
            gap = _parted(piece.body, poses[tree.place[name]], motion, name, at)
            if gap > OPEN:
                words = "closes a loop: it shares points or vectors with others"
                shapes.setdefault(f"rigid_body/{name}", words)
    return [Cut(element, problem) for element, problem in (cuts or shapes).items()]


def _shared(motion: Motion, poses: list[np.ndarray]) -> dict[str, str]:
    """Points and vectors that bodies share and the tree lets part."""
    tree, cuts = motion.tree, {}
    system = tree.system
    names = {vector: f"point/{name}" for name, vector in system.points.items()}
    names |= {vector: f"unit_vector/{name}" for name, vector in system.vectors.items()}
    for (_, vector), places in motion.carried.items():
        known = [(poses[link] @ place)[1:] for link, place in places.items()]
        if len(known) > 1 and np.max(np.ptp(known, axis=0)) > OPEN and vector in names:
            bodies = [
                next(b for b, n in tree.place.items() if n == link and b != GROUND)
                if link >= 0
                else GROUND
                for link in places
            ]
            cuts[names[vector]] = f"closes a loop: {' and '.join(bodies)} share it"
    return cuts


def _parted(body: Body, pose: np.ndarray, motion: Motion, name: str, at: dict[str, float]) -> float:
    """Distance of a body's points and vectors from where they are as those of other bodies."""
    most = 0.0
    for k, generator in enumerate(body.generators):
        place = pose @ motion.on_link(name, body.built[:, k])
        for axis, component in enumerate(generator):
            found = affine(component)
            assert found is not None
            value = found[1] + sum(w * at[v.name] for v, w in found[0].items())
            most = max(most, abs(value - float(place[1 + axis])))
    return most

"""A frame for each link, placed so that its transformation from the parent's frame has as many zeros as may be.

The z axis of a turn, screw or slide is its axis. The x axis lies along the common normal to the axis of the link's
largest branch, and the origin at its foot; then that branch follows by a turn about x, a step along x, a turn about z
and a step along z (Denavit and Hartenberg, as modified by Khalil and Kleinfinger 1986):

    Rz(gamma) Tz(b)  Rx(alpha) Tx(d)  Rz(theta) Tz(h)

with gamma = b = 0; the other branches need all six.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from codegen.flexible.reduced import AXES
from codegen.topology.bending import BentNode, amplitudes_of, bent_node, structure_pose
from codegen.topology.joints import SINGLE
from codegen.topology.tree import Tree

FLAT = 1e-9  # of the sine of an angle between axes


@dataclass(frozen=True)
class Placing:
    """Transformation from a parent's frame to the link's, with its joint where it was built.

    Attributes
    ----------
    gamma, alpha : tuple of float
        Cosine and sine.
    beta : tuple of float
        Cosine and sine of the turn about the link's own axis, before the joint turns it.
    """

    gamma: tuple[float, float]
    b: float
    alpha: tuple[float, float]
    d: float
    beta: tuple[float, float]
    h: float


def frames(tree: Tree) -> list[np.ndarray]:
    """Poses of the links' frames in the assembled pose, 4 x 4, (1, x) with the 1 in front."""
    found: list[np.ndarray | None] = [None] * len(tree.links)
    weight = [1.0] * len(tree.links)
    for n in reversed(range(len(tree.links))):
        parent = tree.links[n].parent
        if parent >= 0:
            weight[parent] += weight[n]
    for n in reversed(range(len(tree.links))):
        link = tree.links[n]
        if link.kind == "node":
            found[n] = _frame(
                np.eye(3), _node_at(tree, n)
            )  # its axes are those of its frame, later
            continue
        if link.kind == "fixed":
            found[n] = structure_pose(tree.graph.families.bodies[link.bends], tree.graph)
            continue
        if link.kind in ("ball", "free"):
            # axes as those of the file, so that the quaternion is the turn since then
            origin = link.single.at if link.kind == "ball" else _first_point(tree, n)
            found[n] = _frame(np.eye(3), np.asarray(origin, dtype=float))
            continue
        omega, velocity = link.single.twist[:3], link.single.twist[3:]
        children = tree.children(n)
        z = velocity if link.kind == "slide" else omega
        main = max(children, key=lambda k: weight[k], default=None)
        inner = found[main] if main is not None else None
        # any point of the axis; a slide's may be anywhere
        at = np.cross(omega, velocity)
        if inner is None:
            centre = _centre(tree, n)
            at = centre if link.kind == "slide" else at
            foot = at + z * (z @ (centre - at))
            found[n] = _frame(_axes(centre - foot, z, None), foot)
            continue
        straight = tree.links[main].kind in SINGLE  # type: ignore[index]
        z_in, origin = inner[1:, 3] if straight else z, inner[1:, 0]
        at = origin if link.kind == "slide" else at
        across = np.cross(z, z_in)
        if np.linalg.norm(across) > FLAT:
            # feet of the common normal of both axes
            k = np.linalg.solve(np.array([z, -z_in, across]).T, origin - at)[0]
            found[n] = _frame(_axes(across, z, None), at + k * z)
        else:
            foot = at + z * (z @ (origin - at))
            found[n] = _frame(_axes(origin - foot, z, inner[1:, 1]), foot)
    made = [_tidied(f) for f in found if f is not None]
    for n, link in enumerate(tree.links):
        if link.kind == "node":
            made[n] = made[link.parent] @ node_of(tree, n, made).pose(_amplitudes(tree, link.bends))
    return made


def node_of(tree: Tree, n: int, frames: list[np.ndarray]) -> BentNode:
    """The node that a link is, in the axes of the link of its frame."""
    link, families = tree.links[n], tree.graph.families
    body, node = families.nodes[link.name]
    return bent_node(body, node, tree.graph, frames[link.parent], link.axis)


def _node_at(tree: Tree, n: int) -> np.ndarray:
    link, families = tree.links[n], tree.graph.families
    body, node = families.nodes[link.name]
    pose = structure_pose(body, tree.graph)
    at = node.position + node.shape[:3] @ _amplitudes(tree, body.name)
    return (pose @ np.array([1.0, *at]))[1:]


def _amplitudes(tree: Tree, body: str) -> np.ndarray:
    return amplitudes_of(tree.graph.families.bodies[body], tree.graph)


def placing(parent: np.ndarray, child: np.ndarray) -> Placing:
    """The transformation between two frames."""
    relative = np.linalg.inv(parent) @ child
    turn, r = relative[1:, 1:], relative[1:, 0]
    a = turn[:, 2]
    flat = math.hypot(a[0], a[1])
    if flat < FLAT:
        d = math.hypot(r[0], r[1])
        gamma = (r[0] / d, r[1] / d) if d > 1e-12 else (1.0, 0.0)
        if gamma[0] < -1e-12:
            gamma, d = (-gamma[0], -gamma[1]), -d
        alpha = (float(np.sign(a[2])), 0.0)
        b, h = float(r[2]), 0.0
    else:
        # a = (sin gamma sin alpha, -cos gamma sin alpha, cos alpha)
        sign = -1.0 if a[1] > 0.0 else 1.0
        gamma, alpha = (sign * -a[1] / flat, sign * a[0] / flat), (float(a[2]), sign * flat)
        x = np.array([gamma[0], gamma[1], 0.0])
        b, d, h = np.linalg.solve(np.array([[0.0, 0.0, 1.0], x, a]).T, r)
    cg, sg = gamma
    ca, sa = alpha
    before = np.array([[cg, -sg * ca, sg * sa], [sg, cg * ca, -cg * sa], [0.0, sa, ca]])
    left = before.T @ turn
    pairs = [gamma, alpha, (left[0, 0], left[1, 0])]
    g, al, be = ((_tidy(c), _tidy(s)) for c, s in pairs)
    return Placing(g, _tidy(b), al, _tidy(d), be, _tidy(h))


def _first_point(tree: Tree, link: int) -> np.ndarray:
    piece = tree.graph.pieces[tree.links[link].bodies[0]]
    return np.array([tree.graph.value(c) for c in piece.body.generators[0]])


def _centre(tree: Tree, link: int) -> np.ndarray:
    """Centre of mass of a link, or the first point of its body."""
    total = np.zeros(4)
    for name in tree.links[link].bodies:
        pose = tree.graph.pieces[name].pose
        for var, moment in tree.system.masses.of_bodies.get(name, []):
            total += tree.graph.value(var) * (pose @ moment[:, 0])
        if name in tree.graph.families.bodies:
            body = tree.graph.families.bodies[name]
            total += structure_pose(body, tree.graph) @ body.modes.gram[:AXES, 0]
    return total[1:] / total[0] if total[0] > 0.0 else _first_point(tree, link)


def _axes(along: np.ndarray, z: np.ndarray, instead: np.ndarray | None) -> np.ndarray:
    """Axes with this z, and x along a direction across it; where that is nothing, another one."""
    x = along - z * (z @ along)
    if np.linalg.norm(x) < 1e-9:
        seed = instead if instead is not None else np.eye(3)[int(np.argmin(np.abs(z)))]
        x = seed - z * (z @ seed)
    if np.linalg.norm(x) < 1e-9:
        seed = np.eye(3)[int(np.argmin(np.abs(z)))]
        x = seed - z * (z @ seed)
    x = x / np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def _frame(axes: np.ndarray, origin: np.ndarray) -> np.ndarray:
    made = np.eye(4)
    made[1:, 0], made[1:, 1:] = origin, axes
    return made


def _tidied(frame: np.ndarray) -> np.ndarray:
    return np.array([[_tidy(v) for v in row] for row in frame])


def _tidy(value: float) -> float:
    """Round-off about whole numbers, and the digits on which linear algebra libraries differ, cut off."""
    cut = float(f"{value:.14g}")
    return float(round(cut)) + 0.0 if abs(cut - round(cut)) < 1e-13 else cut

"""Bodies that bend as links of a tree: their constants in the axes of a link, and the turn of a node beside its frame.

Natural coordinates turn the directions of a node linearly, d = e + theta x e. A joint's axis follows such a direction,
whose length nobody asks for. A node of a tree turns by a rotation, which takes the axis `a` of the joint on it there:

    R = R_tilt(theta - a (a.theta)) R_a(atan(a.theta)),    R_tilt(t) = c + c t~ + c^2/(1+c) t t^T,  c = (1 + t^2)^-1/2

Without such a joint R = R_tilt(theta). Both are the same to first order in theta.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from codegen.flexible.motion import Bending
from codegen.flexible.reduced import AXES, ReducedNode
from codegen.system.body import tidy
from codegen.topology.bodies import Graph

SMALL = 1e-12  # of a number beside the largest of its kind


@dataclass(frozen=True)
class BentNode:
    """A node in the axes of a link, from its origin.

    Attributes
    ----------
    at : ndarray, shape (3,)
        Where nothing bends.
    moves, turns : ndarray, shape (3, m)
        Displacement and rotation by each mode.
    axis : ndarray, shape (3,), or None
        Of a joint on the node, where nothing bends.
    """

    at: np.ndarray
    moves: np.ndarray
    turns: np.ndarray
    axis: np.ndarray | None

    def pose(self, amplitudes: np.ndarray) -> np.ndarray:
        """From the node to the link, 4 x 4, (1, x) with the 1 in front; amplitudes may be complex."""
        made = np.eye(4, dtype=np.asarray(amplitudes).dtype)
        made[1:, 0] = self.at + self.moves @ amplitudes
        made[1:, 1:] = turned(self.turns @ amplitudes, self.axis)
        return made


@dataclass(frozen=True)
class BentFrame:
    """Constants of a body that bends in the axes of its link, from the link's origin.

    Attributes
    ----------
    gram, load : ndarray
        As those of `codegen.flexible.reduced.Reduced`; no `load` without stiffening.
    """

    gram: np.ndarray
    load: np.ndarray | None

    @property
    def count(self) -> int:
        return (len(self.gram) - AXES) // 3

    def integral(self, a: int, i: int, b: int, j: int) -> float:
        """Integral of component a of mode i by component b of mode j."""
        return float(self.gram[AXES + a * self.count + i, AXES + b * self.count + j])


def turned(theta: np.ndarray, axis: np.ndarray | None) -> Any:
    """The rotation of a node, 3 x 3; see the top of this file."""
    along = 0.0 if axis is None else axis @ theta
    tilt = theta if axis is None else theta - along * axis
    c = 1.0 / np.sqrt(1.0 + tilt @ tilt)
    made = c * (np.eye(3) + _skew(tilt)) + c * c / (1.0 + c) * np.outer(tilt, tilt)
    if axis is None:
        return made
    c = 1.0 / np.sqrt(1.0 + along * along)
    return made @ (c * np.eye(3) + c * along * _skew(axis) + (1.0 - c) * np.outer(axis, axis))


def bent_frame(body: Bending, graph: Graph, link: np.ndarray) -> BentFrame:
    """The constants of a body in the axes of its link, which has this frame in the assembled pose."""
    turn, shift = _beside(body, graph, link)
    count = body.modes.count
    change = np.eye(len(body.modes.gram))
    change[1:AXES, 0], change[1:AXES, 1:AXES] = shift, turn
    change[AXES:, AXES:] = np.kron(turn, np.eye(count))
    gram = _clean(change @ body.modes.gram @ change.T)
    if not body.stiffens or body.modes.load is None:
        return BentFrame(gram, None)
    load = np.einsum("kl,clij->ckij", turn, body.modes.load)
    load[1:] = np.einsum("ab,bkij->akij", turn, load[1:]) + np.einsum("a,kij->akij", shift, load[0])
    size = np.abs(load).max(initial=0.0)
    return BentFrame(gram, np.where(np.abs(load) > SMALL * size, load, 0.0))


def bent_node(
    body: Bending, node: ReducedNode, graph: Graph, link: np.ndarray, axis: np.ndarray | None
) -> BentNode:
    """A node in the axes of its body's link; `axis` is that of a joint in the assembled pose."""
    turn, shift = _beside(body, graph, link)
    moves, turns = _tidied(turn @ node.shape[:3]), _tidied(turn @ node.shape[3:])
    if axis is not None:
        theta = turns @ amplitudes_of(body, graph)
        axis = np.linalg.solve(np.eye(3) + _skew(theta), link[1:, 1:].T @ axis)
        axis = tidy(axis / np.linalg.norm(axis))
    return BentNode(tidy(shift + turn @ node.position), moves, turns, axis)


def amplitudes_of(body: Bending, graph: Graph) -> np.ndarray:
    """In the assembled pose."""
    return np.array([graph.value(c.q) for c in body.amplitudes])


def structure_pose(body: Bending, graph: Graph) -> np.ndarray:
    """Return the pose of a structure's axes and origin in the assembled mechanism, 4 x 4."""
    built = np.eye(4)
    built[1:, 1:] = body.turn
    built[1:, 0] = body.frame.body.built[1:, 0] + body.turn @ body.shift
    return graph.pieces[body.name].pose @ built


def _beside(body: Bending, graph: Graph, link: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Axes and origin of the structure in the frame of its link."""
    pose = np.linalg.inv(link) @ structure_pose(body, graph)
    return tidy(pose[1:, 1:]), tidy(pose[1:, 0])


def _clean(gram: np.ndarray) -> np.ndarray:
    """Round-off set to zero: beside what two fields could have in common."""
    size = np.sqrt(np.maximum(np.diag(gram), 0.0))
    return np.where(np.abs(gram) > 1e-10 * np.outer(size, size), gram, 0.0)


def _tidied(shape: np.ndarray) -> np.ndarray:
    size = np.abs(shape).max(initial=0.0)
    return np.where(np.abs(shape) > 1e-10 * size, shape, 0.0)


def _skew(v: np.ndarray) -> np.ndarray:
    x, y, z = v
    zero = 0.0 * x
    return np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]])

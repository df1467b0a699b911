"""Transfer matrices of planar rods on smooth pins, as published, and a tree's overall transfer equation in numbers.

States are [x'', y'', Omega', m, qx, qy, 1]. Dense and slow: an independent way to accelerations and joint forces.
Source: Rui, Bestle, Wang and others 2020; with `printed` or `about_centre` the matrices have the mistakes of the
printed text.
"""

from dataclasses import dataclass

import numpy as np

from codegen.topology.tree import Tree
from codegen.transfer.equation import overall


@dataclass
class Rod:
    """A uniform rod: half its length, its angle from input to output and its rate, and the weight."""

    angle: float
    rate: float
    a: float = 0.5
    m: float = 1.0
    g: float = 9.81
    about_centre: bool = False

    @property
    def way(self):
        return np.array([np.cos(self.angle), np.sin(self.angle)])

    @property
    def inertia(self):
        """Inertia about the input, or wrongly about the centre."""
        return self.m * self.a**2 * (1.0 / 3.0 if self.about_centre else 4.0 / 3.0)


def across(r):
    """r x (a force): the row that makes a moment of it."""
    return np.array([-r[1], r[0]])


def body(rod, arms=(), centre=1.0, out=2.0):
    """From the input, and further inputs at `arms`, to the output."""
    m, w2 = rod.m, rod.rate**2
    r_c, r_o = centre * rod.a * rod.way, out * rod.a * rod.way
    weight = np.array([0.0, -m * rod.g])
    made = np.zeros((7, 7 + 3 * len(arms)))
    made[:2, :2], made[2, 2], made[3, 3], made[4:6, 4:6] = np.eye(2), 1.0, 1.0, np.eye(2)
    made[:2, 2], made[:2, -1] = [-r_o[1], r_o[0]], -w2 * r_o
    e3, e4, e5 = -m * np.eye(2), m * np.array([r_c[1], -r_c[0]]), weight + m * w2 * r_c
    made[4:6, :2], made[4:6, 2], made[4:6, -1] = e3, e4, e5
    e6 = across(r_o)
    made[3, :2] = e6 @ e3 + m * across(r_c)
    made[3, 2] = e6 @ e4 + rod.inertia
    made[3, 4:6] = e6
    made[3, -1] = e6 @ e5 - across(r_c) @ weight
    for k, arm in enumerate(arms):
        at = 6 + 3 * k
        made[3, at], made[3, at + 1 : at + 3] = 1.0, across(r_o - arm)
        made[4:6, at + 1 : at + 3] = np.eye(2)
    made[6, -1] = 1.0
    return made


def hinge(outer, printed):
    """A smooth pin whose outboard body has this matrix: its angular acceleration follows from that body's end without
    moment."""
    u = outer[3]
    made = np.eye(7)
    made[2] = -u / u[2]
    made[2, 2] = 0.0
    if not printed:
        made[2, 3] = 0.0
    return made


def joints(outer, number):
    """All pins of a body with several inputs: what input `number` adds to the states of all."""
    width = outer.shape[1]
    made, u = np.zeros((width, 7)), outer[3] / outer[3, 2]
    at = 3 if number == 1 else 6 + 3 * (number - 2)
    made[at : at + 3, 3:6] = np.eye(3)
    made[2, 4:6] = -u[at + 1 : at + 3]
    if number == 1:
        made[:2, :2], made[-1, 6] = np.eye(2), 1.0
        made[2, :2], made[2, 6] = -u[:2], -u[-1]
    return made


def accelerations(tree: Tree, rods, printed=False):
    """Solve the overall transfer equation of a tree whose root is pinned at its centre.

    Returns
    -------
    dict
        Angular accelerations of tips and root by name; the force on the root's pin; the rank that the equation lacks.
    """
    (of,) = overall(tree)
    root = rods[of.root.name]
    arms = [2.0 * root.a * root.way]
    hub = body(root, arms, out=1.0)
    following = {
        e.number: of.elements[e.number] for e in of.elements if e.number < len(of.elements)
    }

    def matrix(factor):
        e = factor.element
        if factor.matrix == "H_in":
            return np.eye(7)[[0, 1, 3]]
        if factor.matrix == "H_out":
            made, r = np.zeros((3, hub.shape[1])), arms[factor.number - 2]
            made[:2, :2], made[:2, 2], made[:2, -1] = np.eye(2), [-r[1], r[0]], -(root.rate**2) * r
            return made
        if e.kind == "inputs":
            return hub
        if e.kind == "joints":
            return joints(hub, factor.number)
        if e.kind == "body":
            return body(rods[e.name])
        return hinge(body(rods[following[e.number].name]), printed)

    blocks = {}
    for key, terms in of.blocks.items():
        made = 0.0
        for term in terms:
            product = np.eye(7)
            for factor in reversed(term.factors):
                product = matrix(factor) @ product
            made = made + term.sign * product
        blocks[key] = made
    heights = [7] + [3] * (len(of.rows) - 1)
    full = np.vstack([
        np.hstack([blocks.get((r, c), np.zeros((height, 7))) for c in range(1 + len(of.tips))])
        for r, height in enumerate(heights)
    ])  # fmt: skip
    # the pin: no acceleration and no moment; tips: neither moment nor force
    unknown = [2, 4, 5, *(7 * c + k for c in range(1, 1 + len(of.tips)) for k in range(3))]
    ones = [7 * c + 6 for c in range(1 + len(of.tips))]
    rows = [r for r in range(len(full)) if r != 6]
    left, right = full[np.ix_(rows, unknown)], -full[np.ix_(rows, ones)].sum(axis=1)
    found = np.linalg.lstsq(left, right, rcond=1e-12)[0]
    turned = {of.root.name: found[0]}
    turned |= {tip.name: found[3 + 3 * c + 2] for c, tip in enumerate(of.tips)}
    missing = len(unknown) - np.linalg.matrix_rank(left, tol=1e-9)
    return {"turned": turned, "force": found[1:3], "missing": missing}

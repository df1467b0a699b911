"""The conditions that close the loops of a mechanism whose tree leaves some open, by the numbers of its rows.

A body that shares points or vectors with one that the tree lets part has no row for that in the file: there the place
of each generator on its own link is the place that the file's coordinates say.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.expressions.dag import Expr, evaluate
from codegen.system.affine import affine
from codegen.topology.motion import OPEN, SAMPLES, Motion


@dataclass(frozen=True)
class Parted:
    """A component of a point or vector that its body has elsewhere than the file's coordinates.

    Attributes
    ----------
    weights, offset : dict of Expr to float, float
        The component as a sum of the file's coordinates.
    link, place, axis : int, ndarray, int
        The same on the body's own link.
    """

    label: str
    weights: dict[Expr, float]
    offset: float
    link: int
    place: np.ndarray
    axis: int


@dataclass(frozen=True)
class Closing:
    """Rows of the file that the tree does not keep, guides among them, and what has no row in the file."""

    rows: list[int]
    parted: list[Parted]


def closing(motion: Motion) -> Closing:
    """All conditions that the tree does not keep by itself; some may follow from others."""
    tree = motion.tree
    system, graph = tree.system, tree.graph
    loose = {c.q for c in motion.loose}
    fixed = {p.var.name: p.default for p in (*system.parameters, *system.signals)}
    shares = _generators(motion)
    guided = {guide.row for guide in system.guides}
    # rows of rates alone are no tree's
    opened = guided | {r for r, row in enumerate(system.rows) if row.sliding is not None}
    apart: set[int] = set()
    for seed in range(SAMPLES):
        z = motion.somewhere(seed)
        found = motion.natural(z)
        found |= {c.q: c.initial for c in motion.loose}
        at = {var.name: value for var, value in found.items()} | fixed
        poses = [*motion.poses(z), np.eye(4)]
        for r, inside in graph.rows:
            if inside & loose or abs(evaluate(system.rows[r].phi, at)) > OPEN:
                opened.add(r)
        for n, part in enumerate(shares):
            here = part.offset + sum(k * at[v.name] for v, k in part.weights.items())
            is_loose = bool(loose & part.weights.keys())
            if is_loose or abs(here - (poses[part.link] @ part.place)[1 + part.axis]) > OPEN:
                apart.add(n)
    parted = [shares[n] for n in sorted(apart)]
    kept = {part.label.partition(" ")[0] for part in parted}
    # a body that is where its generators are keeps its shape
    rows = [
        r
        for r in sorted(opened)
        if r in guided
        or system.rows[r].sliding is not None
        or system.rows[r].label.partition(" ")[0] not in kept
        or any(v in graph.scalars for v in graph.system.graph.variables(system.rows[r].phi))
    ]
    return Closing(rows, parted)


def _generators(motion: Motion) -> list[Parted]:
    """The components of all generators of bodies on the tree."""
    found = []
    for name, piece in motion.tree.graph.pieces.items():
        if name not in motion.tree.place or name in motion.tree.graph.families.nodes:
            continue
        table = "rigid_body" if name in motion.tree.system.bodies else "constant_distance"
        table = "flexible_body" if name in motion.tree.graph.families.bodies else table
        for k, generator in enumerate(piece.body.generators):
            place = motion.on_link(name, piece.body.built[:, k])
            for axis, component in enumerate(generator):
                sums = affine(component)
                assert sums is not None
                label = f"{table}/{name.removesuffix('_rod')} shares {k + 1} {'xyz'[axis]}"
                link = motion.tree.place[name]
                found.append(Parted(label, dict(sums[0]), sums[1], link, place, axis))
    return found

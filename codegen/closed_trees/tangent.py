"""The tangent of an implicit step of a tree: slopes of all forces, each kind found in its own way."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.closed_trees.load_slopes import load_slopes, reaches
from codegen.closed_trees.slopes import motion_slopes
from codegen.equations.forces import force_tangent
from codegen.expressions.dag import Expr
from codegen.expressions.elimination import Entries
from codegen.system.system import System
from codegen.tree.places import Coordinates


def tangent(
    coordinates: Coordinates, system: System, asked: Mapping[int, Expr], rate_weight: float
) -> Entries:
    """Upper triangle of -dQ/dq - c dQ/dqd, symmetrised.

    Parameters
    ----------
    system : System
        The mechanism over the coordinates of its tree.
    asked : dict of int to Expr
        Of its forces, what masses on no link ask for.
    rate_weight : float
        c, by which slopes over rates are weighed.
    """
    graph = system.graph
    source = coordinates.motion.tree.system
    turned = reaches(coordinates, source.pushes)
    found = motion_slopes(coordinates.chain, source.gravity, turned, rate_weight)
    for key, e in load_slopes(coordinates, source.pushes, rate_weight).items():
        found[key] = found.get(key, graph.zero) + e
    for i, j, damping, stiffness in force_tangent(system, asked):
        e = rate_weight * damping + stiffness
        found[i, j] = found.get((i, j), graph.zero) + e
    return {key: e for key, e in sorted(found.items()) if not e.is_zero}

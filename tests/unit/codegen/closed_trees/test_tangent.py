"""Slopes of the forces of trees, found link by link, beside derivatives of the forces as they are written."""

import numpy as np
import pytest
from mechanisms.file_equations import Equations
from mechanisms.odd_trees import LOOPS, TREES
from mechanisms.random_trees import random_tree, written_tree
from mechanisms.wishbones import wishbone_axle

from codegen.closed_trees.closed import closed_tree
from codegen.description.mechanism import load
from codegen.equations.forces import force_tangent
from codegen.expressions.evaluated import Evaluated

WEIGHT = 7.0  # of slopes over rates beside those over places
SLOW = pytest.mark.slow


def sprung_tree(seed):
    """A random tree of hinges, slides and balls, with springs and dampers between points."""
    made = written_tree(seed, 4)
    made.spring_between(
        "far", points=["b3_at", (0.7, -0.4, 0.2)], stiffness_n_per_m=40.0, damping_ns_per_m=3.0, rest_m=0.1
    )  # fmt: skip
    made.spring_between(
        "across", points=["b3_at", "b1_at"], stiffness_n_per_m=30.0, damping_ns_per_m=2.0, rest_m=0.1
    )  # fmt: skip
    return made.build()


def somewhere(tree, seed):
    """Names with numbers, of a state in which quaternions have the length 1 and keep it; loops may be open."""
    system, rng = tree.made.system, np.random.default_rng(seed)
    z = np.array([c.initial for c in system.coordinates])
    z += rng.uniform(-0.3, 0.3, len(z))
    zd = rng.normal(size=len(z))
    for link in tree.chain.links:
        if link.kind in ("ball", "free"):
            ball = list(link.coordinates[-4:])
            z[ball] /= np.linalg.norm(z[ball])
            zd[ball] -= z[ball] * (z[ball] @ zd[ball])
    return Equations(system).at(z, zd)


def gap(ours, exact, at):
    """Largest difference of expressions, beside the largest one."""
    found, right = (Evaluated(list(values))(at) for values in (ours, exact))
    return float(np.max(np.abs(found - right), initial=0.0) / np.max(np.abs(right), initial=1.0))


def slopes_gap(mechanism, seed=3):
    """Largest difference of the slopes of forces from derivatives, beside the largest slope."""
    tree = closed_tree(mechanism)
    system = tree.made.system
    given = system.tangent(WEIGHT)
    plain = {(i, j): WEIGHT * d + k for i, j, d, k in force_tangent(system)}
    keys, zero = sorted(given.keys() | plain.keys()), system.graph.zero
    both = ([slopes.get(key, zero) for key in keys] for slopes in (given, plain))
    return gap(*both, somewhere(tree, seed))


def rows_gap(mechanism, seed=4):
    """The same of gradients of rows and of their second derivatives."""
    tree = closed_tree(mechanism)
    system, graph = tree.made.system, tree.made.system.graph
    rates, ours, exact = {c.q: c.qd for c in system.coordinates}, [], []
    for r, found in system.row_slopes().items():
        phi = system.rows[r].phi
        ours += [found.bend, *(found.gradient.get(c.index, graph.zero) for c in system.coordinates)]
        exact += [graph.tangent(graph.tangent(phi, rates), rates)]
        exact += [graph.diff(phi, c.q) for c in system.coordinates]
    return gap(ours, exact, somewhere(tree, seed))


@pytest.mark.parametrize("seed", range(3))
def test_slopes_of_a_sprung_tree_are_the_derivatives_of_its_forces(seed):
    # the same sums in another order
    assert slopes_gap(sprung_tree(seed)) < 1e-12


@pytest.mark.parametrize("made", [*TREES, *LOOPS], ids=lambda made: made.__name__)
@pytest.mark.slow
def test_slopes_of_odd_mechanisms_are_the_derivatives_of_their_forces(made):
    assert slopes_gap(made().made.build()) < 1e-11


@pytest.mark.parametrize("name", [
    "steering_rack", "governor", pytest.param("bricard", marks=SLOW), pytest.param("desk_arm", marks=SLOW),
])  # fmt: skip
def test_slopes_of_shipped_mechanisms_are_the_derivatives_of_their_forces(name):
    assert slopes_gap(load(name)) < 1e-11


@SLOW
def test_slopes_of_an_axle_are_the_derivatives_of_its_forces():
    assert slopes_gap(wishbone_axle().build()) < 1e-11


@SLOW
def test_free_bodies_have_the_slopes_of_their_forces():
    assert slopes_gap(random_tree(5, 4, kinds=("free", "ball", "hinge"))) < 1e-11


@pytest.mark.parametrize("made", LOOPS, ids=lambda made: made.__name__)
@pytest.mark.slow
def test_gradients_of_rows_are_their_derivatives(made):
    assert rows_gap(made().made.build()) < 1e-11


@pytest.mark.parametrize("name", ["four_bar", "steering_rack_guided", "bricard"])
def test_gradients_of_shipped_rows_are_their_derivatives(name):
    assert rows_gap(load(name)) < 1e-11


@SLOW
def test_gradients_of_an_axle_are_the_derivatives_of_its_rows():
    assert rows_gap(wishbone_axle().build()) < 1e-11

"""Trees of bodies that bend against the file's own equations in natural coordinates, at equal states."""

import numpy as np
import pytest
from mechanisms.flexible_chains import laden_tree, plane_chain, space_chain
from mechanisms.flexible_mechanisms import flexible_crank
from mechanisms.random_flexible import random_flexible
from mechanisms.tree_accelerations import composite_difference, difference

from codegen.closed_trees.closed import closed_tree

# rods of 0.5 m: their nodes turn by up to 0.05 rad
BENT_M = 0.01


@pytest.mark.slow
@pytest.mark.parametrize(
    "made",
    [
        plane_chain(3),
        space_chain(2, kind="spherical"),
        space_chain(2, modes=3),
        laden_tree(),
    ],
    ids=["plane", "balls", "pins", "laden"],
)
def test_trees_accelerate_as_in_natural_coordinates(made):
    mechanism = made.build()
    # condition of the dense reference: 1e-12 to 1e-11
    assert difference(mechanism, 3, BENT_M) < 1e-9
    assert composite_difference(mechanism, 3, BENT_M) < 1e-9


@pytest.mark.slow
def test_a_body_that_is_bent_at_the_start_hangs_where_it_is():
    made = space_chain(2, modes=3)
    made._entries["flexible_body", "b0"]["initial_m"] = (2e-3, -1e-3, 1e-3)
    assert difference(made.build(), 3, BENT_M) < 1e-9


def test_joints_of_a_loop_begin_with_rates_that_leave_amplitudes_at_rest():
    tree = closed_tree(flexible_crank().build())
    rates = {c.name: c.initial_rate for c in tree.made.system.coordinates}
    # the crank's pin moves across the rod of 0.3 m with 0.15 m 150 rad/s; the rod's joint turns beside the crank
    assert rates["rod_turn"] == pytest.approx(-75.0 - 150.0)
    assert np.array_equal([rates[f"rod_mode{i}"] for i in (1, 2, 3)], np.zeros(3))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_random_trees_that_bend_accelerate_as_in_natural_coordinates(seed):
    """Bodies on different nodes of one, beams of two kinds, tip masses, with stiffening and without, on any root."""
    mechanism = random_flexible(seed).build()
    assert difference(mechanism, seed, BENT_M / 2.0) < 1e-10
    assert composite_difference(mechanism, seed, BENT_M / 2.0) < 1e-10

"""Where the four particles of a link are."""

import numpy as np
import pytest
from mechanisms.random_trees import random_tree

from codegen.description.mechanism import load
from codegen.particles.mechanism import in_particles
from codegen.system.particles import is_flat


@pytest.mark.parametrize("seed", range(3))
def test_particles_are_never_in_a_plane_and_lie_on_joints_where_they_can(seed):
    tree = in_particles(random_tree(seed, 3))
    for four in tree.fours:
        assert not is_flat(four.places)
        assert np.array_equal(four.places[0], np.zeros(3))  # the joint
        if four.kind == "turn":
            assert np.array_equal(four.places[1, :2], np.zeros(2))  # on its axis


def test_invariants_give_the_third_particle():
    tree = in_particles(load("five_bar"))
    for four in tree.fours:
        edges = four.places[1] - four.places[0], four.places[3] - four.places[0]
        tau, mu, share = four.shares(four.places[2] - four.places[0])
        third = four.places[0] + tau * edges[0] + mu * edges[1] + share * np.cross(*edges)
        np.testing.assert_allclose(third, four.places[2], atol=1e-14)

"""Accelerations by articulated inertias against the file's own equations of motion, which know nothing of a tree."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mechanisms.random_trees import random_tree
from mechanisms.tree_accelerations import difference

FREE = ("free", "hinge", "ball", "slide")


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 2**16), n_links=st.integers(1, 4))
def test_any_tree_accelerates_as_in_natural_coordinates(seed, n_links):
    assert difference(random_tree(seed, n_links), seed) < 1e-10


@pytest.mark.parametrize("seed", [1, 2])
def test_a_floating_base_and_balls_accelerate_as_in_natural_coordinates(seed):
    kinds = FREE[:1] if seed == 1 else FREE[2:3]
    assert difference(random_tree(seed, 2, kinds), seed) < 1e-10

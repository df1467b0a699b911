"""Riccati's sweeps against articulated inertias, which work in the axes of each link, at equal states."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mechanisms.random_trees import by_articulated_inertias, moving, random_tree
from mechanisms.swept_tree import swept

from codegen.description.builder import MechanismBuilder
from codegen.tree.mechanism import in_joint_coordinates

KINDS = ("hinge", "slide", "ball", "hinge")


def difference(mechanism, seed):
    """Largest gap between accelerations, of the largest one."""
    tree = in_joint_coordinates(mechanism)
    z, zd = moving(tree, seed)
    exact = by_articulated_inertias(tree, z, zd)
    return np.max(np.abs(swept(mechanism, z, zd) - exact)) / max(1.0, np.max(np.abs(exact)))


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 2**16), n_links=st.integers(1, 6))
def test_any_tree_accelerates_as_by_articulated_inertias(seed, n_links):
    # the same algebra in other axes: round-off of some hundred operations a link
    assert difference(random_tree(seed, n_links, KINDS), seed) < 1e-10


@pytest.mark.parametrize("kinds", [("free",), ("free", "ball", "slide")])
def test_a_floating_base_accelerates_as_by_articulated_inertias(kinds):
    assert difference(random_tree(3, 3, kinds), 3) < 1e-10


def test_cylinders_whose_first_parts_have_no_mass_accelerate_as_by_articulated_inertias():
    made = MechanismBuilder("sleeves", gravity_m_s2=(0.2, -0.1, -9.81))
    for k, (name, before) in enumerate((("upper", "ground"), ("lower", "upper"))):
        at, ways = (0.4 * k, 0.0, 0.0), [f"{name}_{n}" for n in range(3)]
        made.point(f"{name}_at", position_m=at)
        for way, direction in zip(ways, np.eye(3), strict=True):
            made.unit_vector(way, direction=direction.tolist())
        made.rigid_body(
            name, points=[f"{name}_at"], vectors=ways, mass_kg=1.0, centre_m=(at[0] + 0.1, 0.1, 0.05),
            inertia_kg_m2=(0.01, 0.02, 0.03),
        )  # fmt: skip
        axis = (0, 1, 0) if k else (0, 0, 1)
        made.cylindrical(f"j{k}", bodies=[name, before], point_m=at, axis=axis)
    assert difference(made.build(), 1) < 1e-10

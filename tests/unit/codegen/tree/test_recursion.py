"""Accelerations by articulated inertias against the file's own equations of motion, which know nothing of a tree."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codegen.formulations import articulated
from codegen.options.options import KernelOptions
from codegen.targets import numpy_module
from codegen.tree.mechanism import in_joint_coordinates
from tests.parts.mechanisms.random_trees import by_articulated_inertias, moving, random_tree

OPTIONS = KernelOptions(formulation="articulated")
FREE = ("free", "hinge", "ball", "slide")


def difference(mechanism, seed):
    """Largest gap between accelerations of the file's coordinates, relative to the largest one."""
    tree = in_joint_coordinates(mechanism)
    twin = {}
    exec(numpy_module.text(articulated.build(mechanism, OPTIONS)), twin)
    z, zd = moving(tree, seed)
    zdd = by_articulated_inertias(tree, z, zd)
    q, slope = twin["natural_slopes"](z)
    ours = slope @ zdd + twin["bend"](z, zd)
    assert np.max(np.abs(twin["natural_phi"](q, np.zeros(0)))) < 1e-12
    # mass qdd + phi_q^T lam = force, phi_q qdd + gamma = 0; redundant rows are allowed
    par = np.array([value for _, value in twin["PARAMETERS"]])
    rows, mass = twin["natural_phi_q"](q), twin["mass"](par)
    applied = twin["natural_force"](q, slope @ zd, np.zeros(1), par, np.zeros(0))
    block = np.block([[mass, rows.T], [rows, np.zeros((len(rows), len(rows)))]])
    right = np.concatenate([applied, -twin["gamma"](q, slope @ zd, np.zeros(0))])
    exact = np.linalg.lstsq(block, right, rcond=1e-13)[0][: len(q)]
    return np.max(np.abs(ours - exact)) / max(1.0, np.max(np.abs(exact)))


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 2**16), n_links=st.integers(1, 4))
def test_any_tree_accelerates_as_in_natural_coordinates(seed, n_links):
    assert difference(random_tree(seed, n_links), seed) < 1e-10


@pytest.mark.parametrize("seed", [1, 2])
def test_a_floating_base_and_balls_accelerate_as_in_natural_coordinates(seed):
    kinds = FREE[:1] if seed == 1 else FREE[2:3]
    assert difference(random_tree(seed, 2, kinds), seed) < 1e-10

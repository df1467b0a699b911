"""Sparse numbers of large mechanisms against dense linear algebra."""

import numpy as np
import pytest

from codegen.description.mechanism import find, load
from codegen.options.options import KernelOptions
from codegen.pose.built import built_pose, massive
from codegen.pose.penalty import penalties
from codegen.pose.redundancy import row_space
from codegen.pose.sparse import factorised, least, rows_of


def banded(n, seed):
    rng = np.random.default_rng(seed)
    rows = np.zeros((n, n))
    for i in range(n):
        for j in range(max(0, i - 2), min(n, i + 3)):
            rows[i, j] = rng.normal()
    return rows.T @ rows + 0.1 * np.eye(n)


def test_solution_and_diagonal_of_the_inverse():
    matrix = banded(40, 1)
    factor = factorised(rows_of(matrix))
    right = np.arange(40.0)
    np.testing.assert_allclose(factor.solve(right), np.linalg.solve(matrix, right), rtol=1e-9)
    wanted = np.diag(np.linalg.inv(matrix))
    np.testing.assert_allclose(factor.inverse_diagonal(), wanted, rtol=1e-9)


@pytest.fixture
def all_sparse(monkeypatch):
    """Every mechanism counts as large."""
    for module in ("sparse", "penalty", "built", "redundancy"):
        monkeypatch.setattr(f"codegen.pose.{module}.LARGE", 1)


@pytest.mark.parametrize("name", ["steering_26", "steering_rack", "double_four_bar"])
def test_penalties_are_the_dense_ones(name, request):
    system = load(find(name)).system
    dense = penalties(system, KernelOptions())
    request.getfixturevalue("all_sparse")
    sparse = penalties(system, KernelOptions())
    # three digits are kept
    np.testing.assert_allclose(sparse[0], dense[0], rtol=2e-3)
    assert sparse[1] == dense[1]


def test_dependent_rows_and_their_combinations_are_the_dense_ones(request):
    jac, _ = built_pose(load(find("steering_26")).system)
    jac = np.vstack([jac[:5], jac[0] + 2.0 * jac[3], jac[5:]])
    dense = row_space(jac)
    request.getfixturevalue("all_sparse")
    sparse = row_space(jac)
    assert sparse.rank == dense.rank == len(jac) - 1
    assert list(sparse.dependent) == list(dense.dependent) == [5]
    np.testing.assert_allclose(sparse.dependent[5], dense.dependent[5], atol=1e-12)


def test_least_change_is_the_dense_one(request):
    jac, _ = built_pose(load(find("steering_26")).system)
    right = 0.01 * np.cos(np.arange(len(jac)))
    dense = least(jac, right)
    request.getfixturevalue("all_sparse")
    np.testing.assert_allclose(least(jac, right), dense, atol=1e-9)


def test_coordinates_without_mass_of_their_own():
    system = load(find("steering_26")).system
    light = {c.name for c in system.coordinates if c.index not in massive(system)}
    assert light == {f"{v}_{axis}" for v in ("v1", "v3") for axis in "xyz"}

"""Joseph's update and the propagation, against their definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators.numerics.covariance import corrected, is_positive_definite, propagated


@st.composite
def problems(draw):
    n = draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    spread = 10.0 ** rng.uniform(-4, 4, n)
    root = rng.normal(size=(n, n)) * spread[:, None]
    cov = root @ root.T + np.diag(spread**2)
    return cov, rng.normal(size=n) / spread, 10.0 ** rng.uniform(-8, 4), rng


@pytest.mark.slow
@given(problems())
@settings(max_examples=200, deadline=None)
def test_an_update_is_symmetric_positive_definite_and_the_kalman_filters(problem):
    cov, slope, variance, _ = problem
    found, gain = corrected(cov, slope, variance)
    assert np.array_equal(found, found.T)
    assert is_positive_definite(found)
    total = slope @ cov @ slope + variance
    assert gain == pytest.approx(cov @ slope / total, rel=1e-12)
    size = np.sqrt(np.diag(cov))
    right = cov - np.outer(cov @ slope, cov @ slope) / total
    # relative to the standard deviations before; differences of equal numbers lose digits
    assert np.max(np.abs(found - right) / np.outer(size, size)) < 1e-12


@given(problems())
@settings(max_examples=100, deadline=None)
def test_an_update_does_not_depend_on_the_scale_of_coordinates(problem):
    cov, slope, variance, rng = problem
    scale = 2.0 ** rng.integers(-10, 11, len(slope))  # powers of two: exact in floating point
    found, gain = corrected(cov, slope, variance)
    scaled, scaled_gain = corrected(cov * np.outer(scale, scale), slope / scale, variance)
    assert np.array_equal(scaled, found * np.outer(scale, scale))
    assert np.array_equal(scaled_gain, gain * scale)


@given(problems())
@settings(max_examples=100, deadline=None)
def test_scalar_updates_are_the_update_with_all_sensors_at_once(problem):
    cov, _, _, rng = problem
    n = len(cov)
    slopes, variances = rng.normal(size=(3, n)), rng.uniform(0.1, 1.0, 3) * np.trace(cov)
    one_by_one = cov
    for slope, variance in zip(slopes, variances, strict=True):
        one_by_one, _ = corrected(one_by_one, slope, variance)
    total = slopes @ cov @ slopes.T + np.diag(variances)
    right = cov - cov @ slopes.T @ np.linalg.solve(total, slopes @ cov)
    assert one_by_one == pytest.approx(right, abs=1e-10 * np.trace(cov))


@given(problems())
@settings(max_examples=100, deadline=None)
def test_a_propagated_covariance_stays_symmetric(problem):
    cov, _, _, rng = problem
    transition = rng.normal(size=cov.shape)
    found = propagated(cov, transition, cov)
    assert np.array_equal(found, found.T)
    size = np.max(np.abs(found))
    assert found == pytest.approx(transition @ cov @ transition.T + cov, abs=1e-12 * size)


def test_an_indefinite_matrix_is_told():
    assert not is_positive_definite([[1.0, 2.0], [2.0, 1.0]])


def in_order(first, second):
    total = 0.0
    for a, b in zip(first, second, strict=True):
        total += a * b
    return total


@pytest.mark.parametrize("n", [3, 4, 5, 11])
def test_rows_at_once_have_the_bits_of_one_cell_after_the_other(n):
    rng = np.random.default_rng(n)
    root, noise = rng.normal(size=(2, n, n))
    cov, noise = (np.tril(m @ m.T) + np.tril(m @ m.T, -1).T for m in (root, noise))
    transition = np.where(rng.uniform(size=(n, n)) < 0.5, rng.normal(size=(n, n)), 0.0)
    moved = [[in_order(transition[i], cov[:, j]) for j in range(n)] for i in range(n)]
    right = np.empty((n, n))
    for i in range(n):
        for j in range(i + 1):
            total = noise[i, j]
            for a, b in zip(moved[i], transition[j], strict=True):
                total += a * b
            right[i, j] = right[j, i] = total
    assert np.array_equal(propagated(cov, transition, noise), right)

    slope, variance = np.where(rng.uniform(size=n) < 0.6, rng.normal(size=n), 0.0), 0.3
    ph = np.array([in_order(cov[i], slope) for i in range(n)])
    gain = ph / (in_order(slope, ph) + variance)
    for i in range(n):
        rest = [cov[i, j] - gain[i] * ph[j] for j in range(n)]
        along = in_order(rest, slope) - variance * gain[i]
        for j in range(i + 1):
            right[i, j] = right[j, i] = rest[j] - along * gain[j]
    found, by = corrected(cov, slope, variance)
    assert np.array_equal(by, gain)
    assert np.array_equal(found, right)

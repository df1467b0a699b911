"""The order of the steps beside each: a network that sorts whole arrays, and the ends of a log."""

import itertools

import numpy as np
import pytest

from io_bridge.logs.faults.steps import BESIDE, CHUNK, find_grid, in_order, measure_steps


def test_the_network_sorts():
    # Knuth: one that sorts all zeros and ones sorts everything
    bits = np.array([*itertools.product((0.0, 1.0), repeat=8)]).T
    assert np.array_equal(np.array(in_order(bits)), np.sort(bits, axis=0))


@pytest.mark.parametrize("n", [4, 7, 9, 30, CHUNK + 3])
def test_what_is_expected_of_a_step_is_the_middle_of_those_beside_it(n):
    value = np.cumsum(np.random.default_rng(n).normal(size=n))
    steps = measure_steps(value, np.ones(n - 1), np.full(n, 1e-9))
    size = np.diff(value)
    for i in {*range(min(n - 1, 12)), *range(max(0, n - 13), n - 1), n // 2 - 1}:
        beside = [*size[max(0, i - BESIDE) : i], *size[i + 1 : i + 1 + BESIDE]]
        assert steps.expected[i] == np.median(beside)


@pytest.mark.parametrize("count", [1 / 8192, 360 / 4096, 2 * np.pi / 65_536, 0.0219726])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_grid_of_counts_with_a_scale_is_found(count, kind):
    angle = np.rint(400.0 * np.sin(np.linspace(0.0, 9.0, 3000)) + 7000.0) * count
    assert find_grid(angle.astype(kind).astype(float)) == pytest.approx(count, rel=1e-5)


def test_noise_is_on_no_grid():
    assert find_grid(np.random.default_rng(3).normal(size=5000)) == 0.0

"""Envelopes of buckets: nothing is lost between two buckets, and a hole stays a hole."""

import numpy as np

from rigloop.monitor.sources.envelope import bucket_ns, envelopes


def test_each_bucket_has_the_extremes_and_the_last_of_its_cycles():
    rng = np.random.default_rng(3)
    for _ in range(100):
        values = rng.normal(size=rng.integers(0, 80))
        there = rng.random(len(values)) < rng.random()
        t_ns, column = np.flatnonzero(there), values[there]
        width, first, n = int(rng.integers(1, 9)), int(rng.integers(0, 5)), 12
        found = envelopes(t_ns, {"a": column}, ["a"], first, width, n).values[0]
        for k in range(n):
            inside = column[(t_ns >= (first + k) * width) & (t_ns < (first + k + 1) * width)]
            if len(inside):
                assert found[:, k].tolist() == [inside.min(), inside.max(), inside[-1]]
            else:
                assert np.isnan(found[:, k]).all()


def test_a_value_that_is_not_a_number_hides_no_other():
    found = envelopes(
        np.array([0, 1, 2]), {"a": np.array([1.0, np.nan, -2.0])}, ["a"], 0, 3, 1
    ).values
    assert found[0, :, 0].tolist() == [-2.0, 1.0, -2.0]


def test_a_bucket_is_a_multiple_of_the_period_so_that_an_empty_one_is_a_gap():
    assert bucket_ns(12_500_000, 1_000_000) == 12_000_000
    assert bucket_ns(100_000, 1_000_000) == 1_000_000

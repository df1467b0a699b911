"""Selector, delay, counter."""

import math

import numpy as np
import pytest

from rig_configs.mistakes import ConfigError

NAN = math.nan


def same(a, b):
    return np.array_equal(np.asarray(a), np.asarray(b), equal_nan=True)


def test_selector_takes_the_signal_of_that_number(run):
    select = [1.0, 2.0, 3.0, 2.4, 2.6, 0.4, 3.6, NAN, math.inf, -math.inf, 1e300, -1.0]
    ones = np.ones(len(select))
    got = run("selector", select=select, u1=10 * ones, u2=20 * ones, u3=30 * ones, count=3)["y"]
    assert same(got, [10, 20, 30, 20, 30, *[NAN] * 7])


def test_selector_does_not_see_what_is_not_chosen(run):
    got = run("selector", select=[1.0, 2.0], u1=[1.0, 1.0], u2=[NAN, NAN])["y"]
    assert same(got, [1.0, NAN])


@pytest.mark.parametrize("cycles", [1, 2, 7, 100])
def test_delay_gives_the_input_of_that_many_cycles_ago(run, cycles):
    u = np.random.default_rng(0).normal(size=50)
    got = run_delay(run, u, cycles)
    assert same(got, np.concatenate([np.full(cycles, -4.0), u])[:50])


def run_delay(run, u, n, at=None):
    """`cycles` is the key of the block, and of the schedule here."""
    return run("delay", u=u, initial=-4.0, table={"cycles": n}, cycles=at)["y"]


def test_delay_holds_the_signal_in_skipped_cycles(run):
    # of cycles 0 1 2 5 6 7 8; 3 and 4 count as the value of 2
    got = run_delay(run, [0.0, 1.0, 2.0, 5.0, 6.0, 7.0, 8.0], 2, [0, 1, 2, 5, 6, 7, 8])
    assert same(got, [-4.0, -4.0, 0.0, 2.0, 2.0, 5.0, 6.0])


def test_a_hole_longer_than_the_line_leaves_the_last_value(run):
    got = run_delay(run, [3.0, 4.0, 5.0, 6.0], 2, [0, 1, 100_000_000, 100_000_001])
    assert same(got, [-4.0, -4.0, 4.0, 4.0])


def test_what_is_no_number_goes_through_and_leaves(run):
    assert same(run_delay(run, [NAN, 1.0, 2.0, 3.0], 2), [-4.0, -4.0, NAN, 1.0])


@pytest.mark.parametrize("n", [0, -1, 100_001])
def test_a_delay_beyond_its_limits_is_refused(run, n):
    with pytest.raises(ConfigError, match=rf"cycles = {n}: must be"):
        run_delay(run, [0.0], n)


def test_a_delay_takes_whole_numbers(run):
    with pytest.raises(ConfigError, match="is not a whole number"):
        run_delay(run, [0.0], 2.5)


def test_counter_counts_edges_and_not_what_is_high_at_the_start(run):
    u = [1.0, 1.0, 0.0, 0.5, 0.49, 0.5, NAN, 0.7, 0.0, 1.0]
    assert same(run("counter", u=u)["count"], [0, 0, 0, 1, 1, 2, NAN, 2, 2, 3])


def test_counter_is_reset(run):
    got = run("counter", u=[0, 1, 0, 1, 0, 1, 0, 1], reset=[0, 0, 0, 1, 0, 0, 0, 0])["count"]
    assert same(got, [0, 1, 1, 0, 0, 1, 1, 2])

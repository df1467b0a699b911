"""A live value in the cycle: start, limits, rate, and what a broken writer does."""

import math

import numpy as np
import pytest

TABLE = {"unit": "1", "lower": -1.0, "upper": 2.0, "rate": 100.0, "start": 0.5}


def test_it_holds_its_start_until_something_is_written(run):
    out = run("live_value", wanted=[9, 9, 1, 1], changes=[0, 0, 1, 1], table=TABLE)
    assert out["value"] == pytest.approx([0.5, 0.5, 0.6, 0.7])
    assert out["refused"].tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("broken", [math.nan, math.inf, -math.inf, 2.0001, -1.0001, 1e300])
def test_what_is_broken_leaves_the_last_good_value_and_is_counted(run, broken):
    out = run("live_value", wanted=[1.0] * 6 + [broken] * 3, changes=[1] * 9, table=TABLE)
    assert out["value"][-1] == 1.0
    assert out["refused"].tolist() == [0] * 6 + [1, 2, 3]


def test_a_stimulus_is_held_within_limits_and_rate(run):
    added = np.concatenate([np.full(40, 5.0), np.full(60, math.nan)])
    out = run("live_value", wanted=np.zeros(100), changes=np.ones(100), added=added, table=TABLE)
    assert out["value"].max() == 2.0
    assert out["value"][39] == 2.0
    assert np.all(np.abs(np.diff(out["value"])) <= 0.1 + 1e-12)
    assert out["value"][-1] == 0.0
    assert out["refused"][-1] == 60


def test_a_rate_is_of_time_not_of_cycles(run):
    out = run("live_value", wanted=[1.5] * 3, changes=[1] * 3, cycles=[0, 1, 6], table=TABLE)
    assert out["value"] == pytest.approx([0.6, 0.7, 1.2])


def test_a_count_that_is_no_number_is_no_change(run):
    out = run("live_value", wanted=[2.0] * 3, changes=[math.nan, -1.0, 0.5], table=TABLE)
    assert out["value"].tolist() == [0.5] * 3

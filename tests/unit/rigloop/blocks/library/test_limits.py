"""Limiter, rate limiter, dead band, hysteresis: closed forms, at and beside their thresholds."""

import math

import numpy as np
import pytest

from rig_configs.mistakes import ConfigError

NAN = math.nan


def same(a, b):
    return np.array_equal(np.asarray(a), np.asarray(b), equal_nan=True)


def test_limiter(run):
    u = np.array([-9.0, -2.0, -1.999, 0.0, 3.0, np.nextafter(3.0, 4.0), math.inf, -math.inf, NAN])
    got = run("limiter", u=u, lower=-2.0, upper=3.0)
    assert same(got["y"], np.clip(u, -2.0, 3.0))
    assert same(got["limited"], [-1, 0, 0, 0, 0, 1, 1, -1, 0])


@pytest.mark.parametrize(
    ("kind", "lower", "upper"),
    [("limiter", 2.0, 1.0), ("hysteresis", 1.0, 1.0), ("hysteresis", 2.0, 1.0)],
)
def test_thresholds_the_wrong_way_round_are_refused_in_words(run, kind, lower, upper):
    with pytest.raises(ConfigError, match=rf"upper = {upper}: must be >=? lower = {lower:g}"):
        run(kind, u=[0.0], lower=lower, upper=upper)


def test_rate_limiter_climbs_and_falls_at_its_rates(run):
    got = run("rate_limiter", u=[5.0] + [6.0] * 5 + [5.5] * 4, rise=300.0, fall=200.0)["y"]
    wanted = [5.0, 5.3, 5.6, 5.9, 6.0, 6.0, 5.8, 5.6, 5.5, 5.5]
    assert np.allclose(got, wanted, rtol=0, atol=1e-14)
    assert got[0] == 5.0
    assert got[4] == 6.0
    assert got[-1] == 5.5


def test_rate_limiter_counts_skipped_cycles(run):
    got = run("rate_limiter", u=[0.0, 9.0, 9.0], rise=1000.0, fall=1.0, cycles=[0, 1, 5])["y"]
    assert np.allclose(got, [0.0, 1.0, 5.0])


def test_rate_limiter_forgets_what_is_no_number(run):
    got = run("rate_limiter", u=[NAN, 2.0, math.inf, 9.0], rise=1000.0, fall=1.0)["y"]
    assert same(got, [NAN, 2.0, NAN, 3.0])


def test_dead_band(run):
    u = np.array([-3.0, -1.0, -0.5, 0.0, 1.0, 1.25, NAN])
    got = run("dead_band", u=u, half_width=1.0)["y"]
    assert same(got, [-2.0, 0.0, 0.0, 0.0, 0.0, 0.25, NAN])


def test_hysteresis_keeps_its_output_between_the_thresholds(run):
    u = [0.5, 1.0, 0.5, NAN, 0.5, 0.0, 0.5, 2.0, -1.0, math.inf, -math.inf]
    got = run("hysteresis", u=u, lower=0.0, upper=1.0)["y"]
    assert same(got, [0, 1, 1, NAN, 1, 0, 0, 1, 0, 1, 0])


@pytest.mark.parametrize(("kind", "key"), [("dead_band", "half_width"), ("rate_limiter", "rise")])
def test_a_negative_width_or_rate_is_refused(run, kind, key):
    given = {"rise": 1.0, "fall": 1.0} if kind == "rate_limiter" else {}
    with pytest.raises(ConfigError, match=rf"{key} = -1.0: must be >"):
        run(kind, u=[0.0], **(given | {key: -1.0}))

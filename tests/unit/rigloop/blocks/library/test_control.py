"""Integrator and PID: closed forms, limits, anti-windup, reset, holes, numbers that are none."""

import math

import numpy as np
import pytest

from rig_configs.mistakes import ConfigError

NAN = math.nan
T = 1e-3


def test_integrator_is_the_sum_of_its_input_over_time(run):
    u = np.random.default_rng(4).normal(size=300)
    got = run("integrator", u=u, initial=2.0)["y"]
    assert np.allclose(got, 2.0 + np.cumsum(u) * T, rtol=0, atol=1e-15 * 300)


def test_integrator_stops_at_its_limits_and_leaves_them_at_once(run):
    got = run("integrator", u=[900.0] * 4 + [-100.0] * 2 + [-9e9], lower=-1.0, upper=2.0)["y"]
    assert np.allclose(got, [0.9, 1.8, 2.0, 2.0, 1.9, 1.8, -1.0])


def test_integrator_counts_skipped_cycles(run):
    assert np.allclose(
        run("integrator", u=[1.0, 1.0, 1.0], cycles=[0, 1, 5])["y"], [T, 2 * T, 6 * T]
    )


def test_integrator_is_reset_and_does_not_take_what_is_no_number(run):
    got = run(
        "integrator", u=[1.0, NAN, 1.0, 1.0, math.inf, 1.0], reset=[0, 0, 0, 1, 0, 0], initial=5.0
    )["y"]
    assert np.allclose(got, [5.0 + T, NAN, 5.0 + 2 * T, 5.0, NAN, 5.0 + T], equal_nan=True)


@pytest.mark.parametrize("limits", [{"lower": 1.0}, {"upper": -1.0}])
def test_an_integrator_that_starts_beyond_its_limits_is_refused(run, limits):
    with pytest.raises(ConfigError, match=r"initial = .*: must be [<>]= (lower|upper) = "):
        run("integrator", u=[0.0], **limits)


WIDE = {"lower": -1e9, "upper": 1e9}


def reference(setpoint, measured, kp, ki, kd, filter_hz):
    """Without limits: each part on its own."""
    error = setpoint - measured
    share = 1.0 - math.exp(-2.0 * math.pi * filter_hz * T)
    filtered = np.empty_like(measured)
    last = measured[0]
    for k, value in enumerate(measured):
        last = filtered[k] = last + share * (value - last)
    rate = np.diff(filtered, prepend=measured[0]) / T
    return kp * error + ki * np.cumsum(error) * T - kd * rate


@pytest.mark.parametrize(
    ("kp", "ki", "kd"), [(2.0, 0.0, 0.0), (0.0, 5.0, 0.0), (0.0, 0.0, 0.3), (2.0, 5.0, 0.3)]
)
def test_pid_is_the_sum_of_its_parts(run, kp, ki, kd):
    setpoint, measured = np.random.default_rng(5).normal(size=(2, 300))
    gains = {"kp": kp, "ki": ki, "kd": kd, "filter_hz": 40.0}
    got = run("pid", setpoint=setpoint, measured=measured, **gains, **WIDE)
    wanted = reference(setpoint, measured, **gains)
    assert np.allclose(got["y"], wanted, rtol=0, atol=1e-9)
    assert not got["saturated"].any()


def test_a_step_of_the_setpoint_gives_no_kick_of_the_derivative(run):
    got = run("pid", setpoint=[0.0, 1.0, 1.0], measured=[0.0] * 3, kp=1.0, kd=100.0, **WIDE)["y"]
    assert np.array_equal(got, [0.0, 1.0, 1.0])


def test_the_integral_does_not_wind_up(run):
    n = 2000
    setpoint = np.where(np.arange(n) < n // 2, 10.0, -0.5)
    got = run(
        "pid", setpoint=setpoint, measured=np.zeros(n), kp=0.1, ki=10.0, lower=-2.0, upper=2.0
    )
    assert got["y"].max() == 2.0
    assert got["saturated"][n // 2 - 1] == 1.0
    # the integral filled what the proportional part left, 1, and comes down from there at once
    assert got["y"][n // 2] == pytest.approx(2.0 - 0.1 * 10.0 - 0.1 * 0.5 - 10.0 * 0.5 * T)
    assert got["saturated"][n // 2] == 0.0
    # and it comes down at 5 a second, to the lower limit
    assert got["y"][-1] == -2.0


def test_feedforward_counts_against_the_limits(run):
    got = run("pid", setpoint=[0.0] * 3, measured=[0.0] * 3, feedforward=[0.5, 3.0, -3.0], kp=1.0, lower=-2.0,
              upper=2.0)  # fmt: skip
    assert np.array_equal(got["y"], [0.5, 2.0, -2.0])
    assert np.array_equal(got["saturated"], [0.0, 1.0, -1.0])


def test_pid_is_reset_and_does_not_take_what_is_no_number(run):
    setpoint = [1.0, NAN, 1.0, 1.0, 1.0]
    got = run(
        "pid", setpoint=setpoint, measured=[0.0] * 5, reset=[0, 0, 0, 1, 0], kp=0.0, ki=1.0, **WIDE
    )["y"]
    assert np.allclose(got, [T, NAN, 2 * T, 0.0, T], equal_nan=True)


def test_pid_counts_skipped_cycles(run):
    given = {"kp": 0.0, "ki": 1.0, "kd": 0.1, "filter_hz": 30.0}
    measured = np.array([0.0, 0.0, *[2.0] * 5])
    every = run("pid", setpoint=np.ones(7), measured=measured, **given, **WIDE)
    got = run(
        "pid", setpoint=[1.0] * 3, measured=[0.0, 0.0, 2.0], cycles=[0, 1, 6], **given, **WIDE
    )["y"]
    assert np.array_equal(got[:2], every["y"][:2])
    # the mean rate over the hole, and the error over its time
    share = 1.0 - math.exp(-2.0 * math.pi * 30.0 * 5 * T)
    assert got[2] == pytest.approx(2 * T - 5 * T - 0.1 * share * 2.0 / (5 * T))


def test_a_controlled_mass_reaches_its_place_without_staying_error(shipped):
    """A loop closed by hand: the block, stepped one cycle at a time, against a first-order plant."""
    from rt_core.loop.offline import Offline
    from rt_core.plan import Task, plan_table

    table = {"kp": 3.0, "ki": 30.0, "lower": -4.0, "upper": 4.0}
    wires = {"setpoint": "in/setpoint", "measured": "in/measured"}
    block = shipped["pid"].make("b", table, wires, period_s=T)
    offline = Offline(plan_table([Task("t", [block], 1_000_000, inputs=tuple(wires.values()))]))
    place = offline.paths("t").index("b/y")
    x = 0.0
    for k in range(3000):
        forced = {"in/setpoint": [1.0], "in/measured": [x]}
        y = offline.run("t", [k * 1_000_000], forced=forced)["t"][0, place]
        x += T * (y + 0.5 - x) / 0.1  # a plant of 0.1 s with a load of 0.5
    assert x == pytest.approx(1.0, abs=1e-6)


def test_limits_the_wrong_way_round_are_refused(run):
    with pytest.raises(ConfigError, match=r"upper = 1\.0: must be > lower = 1"):
        run("pid", setpoint=[0.0], measured=[0.0], kp=1.0, lower=1.0, upper=1.0)

"""Identification of a rotor: exact where it can be known, honest intervals where not."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from io_bridge.logs.formats.table import LogError
from io_bridge.logs.reader import read_log
from rig_configs.mistakes import ConfigError
from rigloop.identify.compare import judge, observe
from rigloop.identify.identify import (
    COULOMB_RATE_RAD_S,
    identify,
    newey_west,
    refuse_no_rotor,
    stretches,
    torque_of,
)

LOGS = Path(__file__).parents[3] / "data" / "logs"
TRUE = {"inertia": 0.04, "viscous": 0.12, "coulomb": 0.25, "offset": -0.1}


@pytest.fixture(scope="module")
def free():
    """Four seconds of a handlebar that swings by itself, with a torque sensor."""
    return read_log(LOGS / "phobos_limtoc_k10_free.csv")


def synthetic(free, seed=0, noise_nm=0.05, colour=0.9):
    """The log with a motion of several frequencies and the torque of a rotor that is known."""
    rng = np.random.default_rng(seed)
    t = free.t_s
    angle = rate = acceleration = 0.0
    for hz, amplitude, phase in ((0.7, 0.8, 0.3), (1.9, 0.3, 1.0), (3.3, 0.12, 2.0)):
        w = 2 * np.pi * hz
        angle = angle + amplitude * np.sin(w * t + phase)
        rate = rate + amplitude * w * np.cos(w * t + phase)
        acceleration = acceleration - amplitude * w * w * np.sin(w * t + phase)
    disturbance = np.zeros_like(t)
    for k, e in enumerate(noise_nm * np.sqrt(1 - colour**2) * rng.normal(size=len(t))):
        disturbance[k] = colour * disturbance[k - 1] + e
    torque = (
        TRUE["inertia"] * acceleration + TRUE["viscous"] * rate
        + TRUE["coulomb"] * np.tanh(rate / COULOMB_RATE_RAD_S) + TRUE["offset"] + disturbance
    )  # fmt: skip
    count = np.rint(angle / (2 * np.pi) * free.mapping.angle.counts_per_rev)
    return replace(free, position_count=count, torque={"sensor_nm": torque})


def test_known_rotor_is_found(free):
    found = identify(synthetic(free, noise_nm=0.0), "sensor_nm", 0.0, 4.0)
    for name, value in TRUE.items():
        # what is left is the smoother's error from counts of 41 microrad
        assert found.value(name) == pytest.approx(value, rel=0.01, abs=1e-3)


@pytest.mark.slow
def test_intervals_hold_what_they_promise_with_coloured_noise(free):
    inside = dict.fromkeys(TRUE, 0)
    runs = 60
    for seed in range(runs):
        found = identify(synthetic(free, seed), "sensor_nm", 0.0, 4.0)
        for p in found.parameters:
            inside[p.name] += p.low <= TRUE[p.name] <= p.high
    # 95 % of 60 are 57; with five standard deviations of that count, and the small-sample optimism
    # of these intervals
    assert min(inside.values()) >= 48, inside


def test_intervals_of_white_residuals_are_those_of_the_textbook():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(5000, 3))
    residual = rng.normal(size=5000)
    textbook = np.linalg.inv(x.T @ x) * np.var(residual)
    np.testing.assert_allclose(
        np.sqrt(np.diag(newey_west(x, residual))), np.sqrt(np.diag(textbook)), rtol=0.1
    )


def test_correlated_residuals_widen_the_intervals():
    rng = np.random.default_rng(3)
    n, rho = 20_000, 0.95
    residual, x = np.zeros(n), np.zeros(n)
    for k in range(1, n):
        residual[k] = rho * residual[k - 1] + rng.normal()
        x[k] = rho * x[k - 1] + rng.normal()
    x = x[:, None]
    white = np.var(residual) / float(x[:, 0] @ x[:, 0])
    # scores of two such processes: variance inflated by (1 + rho^2) / (1 - rho^2)
    expected = white * (1 + rho**2) / (1 - rho**2)
    assert float(newey_west(x, residual)[0, 0]) == pytest.approx(expected, rel=0.35)


def test_inertia_of_the_real_handlebar_is_the_published_one(free):
    found = identify(free, "sensor_nm", 0.0, 2.0)
    # 0.0285 by an independent fit over all of the stretch
    assert found.value("inertia") == pytest.approx(0.0285, rel=0.02)
    assert found.residual_rms_nm < 0.05 * found.torque_rms_nm


def test_torque_observed_from_the_angle_alone_is_right_on_an_unseen_stretch(free):
    found = identify(free, "sensor_nm", 0.0, 2.0)
    observation = observe(free, found)
    judged = judge(observation, 2.0, 4.0)
    assert judged.percent < 4.0
    assert abs(judged.delay_ms) < 1.5
    assert judged.coherence > 0.99
    assert judged.undelayed_percent < judged.percent
    # what makes up for the filter's lag is friction, not another inertia
    assert observation.rotor["inertia"] == pytest.approx(found.value("inertia"), rel=0.1)
    assert observation.rotor["viscous"] < found.value("viscous")


def test_observed_torque_takes_nothing_of_the_future(free):
    # a filter that is causal says of the first half the same whatever follows
    found = identify(free, "sensor_nm", 0.0, 2.0)
    whole = observe(free, found).observed_nm
    cut = int(np.searchsorted(free.t_s, 2.5))
    first = replace(
        free, t_s=free.t_s[:cut], position_count=free.position_count[:cut],
        torque={name: values[:cut] for name, values in free.torque.items()}, row=free.row[:cut],
    )  # fmt: skip
    # least squares over arrays of other lengths sum in another order
    np.testing.assert_allclose(observe(first, found).observed_nm[:2490], whole[:2490], atol=1e-9)


def swinging(free, torque_of_motion, hz=1.1):
    """The log with a swing of 1.2 rad and a torque made of (t, angle, rate, acceleration)."""
    t, w = free.t_s, 2 * np.pi * hz
    angle = 1.2 * np.sin(w * t)
    motion = angle, 1.2 * w * np.cos(w * t), -1.2 * w * w * np.sin(w * t)
    count = np.rint(angle / (2 * np.pi) * free.mapping.angle.counts_per_rev)
    noise = 0.02 * np.random.default_rng(1).normal(size=len(t))
    return replace(
        free, position_count=count, torque={"sensor_nm": torque_of_motion(t, *motion) + noise}
    )


def test_pendulum_is_no_rotor(free):
    # driven slowly against gravity: the torque goes with the angle, so against the acceleration
    log = swinging(free, lambda t, a, r, acc: 0.02 * acc + 4.0 * np.sin(a))
    with pytest.raises(LogError, match=r"inertia of -0\.0.* is none.*gravity, a spring or hands"):
        refuse_no_rotor(log, identify(log, "sensor_nm", 0.0, 2.0))


def test_torque_that_hands_make_is_no_rotors(free):
    log = swinging(free, lambda t, a, r, acc: 0.02 * acc + 3.0 * np.sin(31.0 * t))
    with pytest.raises(LogError, match="may be left"):
        refuse_no_rotor(log, identify(log, "sensor_nm", 0.0, 2.0))


def test_stretch_of_another_log_is_refused(free):
    mapping = free.mapping.model_copy(update={"free_s": (4.0, 8.0)})
    with pytest.raises(ConfigError, match="another log's stretch"):
        stretches(replace(free, mapping=mapping), None, None)
    assert stretches(replace(free, mapping=mapping), (0.0, 2.0), (2.0, 4.0))
    with pytest.raises(ConfigError, match="begins after the log's end"):
        stretches(free, (0.0, 2.0), (40.0, 41.0))


def test_stretch_with_nothing_to_judge_is_refused(free):
    found = identify(free, "sensor_nm", 0.0, 2.0)
    observation = observe(free, found)
    with pytest.raises(LogError, match="at least 200 are needed"):
        judge(observation, 3.95, 9.0)


def test_delay_and_coherence_of_a_shifted_copy_are_known(free):
    found = identify(free, "sensor_nm", 0.0, 2.0)
    o = observe(free, found)
    late = replace_struct(o, observed_nm=np.interp(o.t_s - 0.007, o.t_s, o.measured_nm))
    judged = judge(late, 1.0, 3.0)
    assert judged.delay_ms == pytest.approx(7.0, abs=0.15)
    assert judged.coherence == pytest.approx(1.0, abs=5e-3)
    noise = replace_struct(o, observed_nm=np.random.default_rng(1).normal(size=len(o.t_s)))
    assert judge(noise, 0.0, 4.0).coherence < 0.5


def replace_struct(observation, **changes):
    fields = {name: getattr(observation, name) for name in observation.__struct_fields__}
    return type(observation)(**(fields | changes))


def test_judged_stretch_may_not_overlap_the_fitted_one(free):
    with pytest.raises(ConfigError, match="overlaps --fit"):
        stretches(free, (0.0, 2.0), (1.5, 3.0))
    with pytest.raises(ConfigError, match="empty stretch"):
        stretches(free, (2.0, 2.0), (3.0, 4.0))
    mapping = free.mapping.model_copy(update={"free_s": None})
    fit, judged = stretches(replace(free, mapping=mapping), None, None)
    assert fit[1] == judged[0]


def test_log_that_cannot_be_identified_says_why(free):
    with pytest.raises(LogError, match="at least 200"):
        identify(free, "sensor_nm", 1.0, 1.05)
    resting = replace(free, position_count=np.zeros_like(free.position_count))
    with pytest.raises(LogError, match="rests"):
        identify(resting, "sensor_nm", 0.0, 4.0)
    with pytest.raises(LogError, match="no torque wheel_nm"):
        torque_of(free, "wheel")
    assert torque_of(free, "motor") == "motor_nm"
    assert torque_of(free, None) == "sensor_nm"

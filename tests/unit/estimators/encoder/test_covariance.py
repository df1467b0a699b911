"""Gains of the encoder filter, against the textbook recursion in physical units."""

import numpy as np
import pytest
from scipy.stats import chi2

from estimators.encoder.filter import WRITE_PORTS, EncoderFilter
from estimators.encoder.gains import MODELS, process_noise, steady_state, transition_matrix

PERIOD_S = 1e-3
BANDWIDTH = 100.0
RAD_PER_COUNT = 1e-6  # so fine that rounding adds nothing to the noise that is put on
STATE = ("angle_rad", "rate_rad_s", "acceleration_rad_s2", "jerk_rad_s3")


def make(model="constant_acceleration", noise_rad=1e-4, **changes):
    config = {
        "counts_per_rev": 2 * np.pi / RAD_PER_COUNT,
        "period_s": PERIOD_S,
        "bandwidth_rad_s": BANDWIDTH,
        "max_acceleration_rad_s2": 1e9,
    }
    return EncoderFilter(
        "e", {"position_count": "c"}, {}, model=model, noise_rad=noise_rad,
        **(config | changes),
    )  # fmt: skip


def run(block, angle_rad, valid=None, elapsed=None, age=None):
    count = np.rint(np.asarray(angle_rad) / RAD_PER_COUNT)
    n = len(count)
    valid = np.ones(n) if valid is None else np.asarray(valid, float)
    elapsed = np.ones(n) if elapsed is None else np.asarray(elapsed, float)
    out = block.run(count, valid, elapsed, age)
    return {port: out[:, i] for i, port in enumerate(WRITE_PORTS)}


def textbook(times_s, angle_rad, n, noise_rad, initial):
    """Kalman filter in physical units; returns state, covariance, NIS after each sample."""
    density = BANDWIDTH ** (2 * n) * noise_rad**2 * PERIOD_S
    h = np.eye(n)[0]
    x, cov = angle_rad[0] * h, initial.copy()
    found = [(x, cov, 0.0)]
    for k in range(1, len(times_s)):
        dt = times_s[k] - times_s[k - 1]
        f = transition_matrix(dt, n)
        x, cov = f @ x, f @ cov @ f.T + density * process_noise(dt, n)
        s = cov[0, 0] + noise_rad**2
        innovation = angle_rad[k] - x[0]
        x = x + cov[:, 0] / s * innovation
        keep = np.eye(n) - np.outer(cov[:, 0] / s, h)
        cov = keep @ cov @ keep.T + noise_rad**2 * np.outer(cov[:, 0], cov[:, 0]) / s**2
        found.append((x, cov, innovation**2 / s))
    return found


@pytest.mark.parametrize("model", MODELS)
def test_irregular_and_aged_samples_agree_with_the_textbook(model):
    rng = np.random.default_rng(1)
    n, noise, cycles = MODELS[model], 1e-4, 400
    now = PERIOD_S * np.arange(cycles)
    valid = rng.random(cycles) < 0.5
    valid[0] = True
    age = rng.uniform(0.0, 0.9 * PERIOD_S, cycles)
    when = (now - age)[valid]
    angle = np.zeros(cycles)
    angle[valid] = 0.3 * np.sin(9 * when) + noise * rng.normal(size=valid.sum())
    # a start so wide that the textbook form itself loses digits would prove nothing
    block = make(model, max_acceleration_rad_s2=1e4, gate_nis=0.0)
    initial = block.covariance
    out = run(block, angle, valid, age=age)
    counted = RAD_PER_COUNT * np.rint(angle[valid] / RAD_PER_COUNT)
    found = textbook(when, counted, n, noise, initial)
    for k, cycle in enumerate(np.flatnonzero(valid)):
        x, _, nis = found[k]
        moved = transition_matrix(age[cycle], n) @ x
        estimate = [out[port][cycle] for port in STATE[:n]]
        # two orders of summation; the start has a covariance of condition 1e8
        scale = BANDWIDTH ** np.arange(n)
        np.testing.assert_allclose(estimate / scale, moved / scale, rtol=1e-7, atol=1e-10)
        assert out["nis"][cycle] == pytest.approx(nis, rel=1e-5, abs=1e-5)
    np.testing.assert_allclose(block.covariance, found[-1][1], rtol=1e-6)
    assert out["covariance_resets"][-1] == 0


@pytest.mark.parametrize("model", MODELS)
def test_regular_samples_end_in_the_steady_state(model):
    n = MODELS[model]
    block = make(model)
    run(block, np.zeros(3000))
    steady = steady_state(PERIOD_S, BANDWIDTH, n)
    np.testing.assert_allclose(block.covariance, 1e-8 * steady.covariance, rtol=1e-6)


@pytest.mark.parametrize("model", MODELS)
def test_on_a_matched_model_the_filter_is_consistent(model):
    # the model itself makes the motion, so that NIS and NEES have their chi-square laws
    rng = np.random.default_rng(7)
    n, noise, runs, cycles = MODELS[model], 1e-4, 60, 400
    density = BANDWIDTH ** (2 * n) * noise**2 * PERIOD_S
    f, root = transition_matrix(PERIOD_S, n), np.linalg.cholesky(process_noise(PERIOD_S, n))
    steady = noise**2 * steady_state(PERIOD_S, BANDWIDTH, n).covariance
    nis, nees, error = [], [], []
    for _ in range(runs):
        x, states = np.zeros(n), []
        for _ in range(cycles):
            states.append(x)
            x = f @ x + np.sqrt(density) * root @ rng.normal(size=n)
        states = np.array(states)
        block = make(model)
        out = run(block, states[:, 0] + noise * rng.normal(size=cycles))
        nis.append(out["nis"][200:].mean())
        off = np.array([out[port][-1] for port in STATE[:n]]) - states[-1]
        error.append(off)
        nees.append(off @ np.linalg.solve(steady, off))
    # 99.9 % bounds of sums of squares: 200 independent innovations, n errors a run
    low, high = chi2.ppf([0.0005, 0.9995], 200 * runs) / (200 * runs)
    assert low < np.mean(nis) < high
    low, high = chi2.ppf([0.0005, 0.9995], n * runs) / runs
    assert low < np.mean(nees) < high
    # unbiased: the mean of each error within 4 standard deviations of itself
    bound = 4 * np.sqrt(np.diag(steady) / runs)
    assert np.all(np.abs(np.mean(error, axis=0)) < bound)


def test_wheel_that_turns_at_the_start_is_followed_within_some_samples():
    t = PERIOD_S * np.arange(300)
    out = run(make(), 3.0 * t)
    assert np.abs(out["rate_rad_s"][5:] - 3.0).max() < 0.02


def test_sample_that_is_not_newer_says_nothing():
    t = PERIOD_S * np.arange(500)
    age = np.zeros(500)
    plain = run(make(), 2.0 * t)
    # every tenth cycle brings the sample of the cycle before once more
    angle = 2.0 * t
    angle[10::10] = angle[9::10][: len(angle[10::10])]
    age[10::10] = PERIOD_S
    out = run(make(), angle, age=age)
    # round-off: ages are differences of times
    np.testing.assert_allclose(out["angle_rad"][20:], 2.0 * t[20:], rtol=0, atol=2e-6)
    assert out["missed"][10::10].min() == 1
    assert plain["missed"].max() == 0


def test_gate_on_the_normalised_innovation_refuses_what_the_physical_gate_lets_in():
    rng = np.random.default_rng(4)
    t = PERIOD_S * np.arange(3000)
    angle = 0.2 * np.sin(3 * t) + 1e-4 * rng.normal(size=3000)
    angle[[2000, 2500]] += 2e-3  # twenty standard deviations, but small for the wheel
    open_ = run(make(max_acceleration_rad_s2=1000.0), angle)
    gated = run(make(max_acceleration_rad_s2=1000.0, gate_nis=25.0), angle)
    assert open_["rejected"][-1] == 0
    assert gated["rejected"][-1] == 2
    assert gated["nis"][2000] > 25.0


def test_mistakes_of_the_new_settings_are_told_together():
    with pytest.raises(ValueError, match="model = 'cubic'") as caught:
        make("cubic", gains="best", noise_rad=-1.0, gate_nis=-2.0)
    for part in ("gains = 'best'", "noise_rad = -1", "gate_nis = -2"):
        assert part in str(caught.value)

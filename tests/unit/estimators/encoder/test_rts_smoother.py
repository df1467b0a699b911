import numpy as np
import pytest
from scipy.stats import chi2

from estimators.encoder.gains import process_noise, transition_matrix
from estimators.encoder.likelihood import fit_noise
from estimators.encoder.rts_smoother import filter_pass, smooth

W0, PERIOD_S, NOISE = 40.0, 5e-3, 1e-3


def matched(seed, n, samples, irregular=False):
    """Times, states and angles of the smoother's own model."""
    rng = np.random.default_rng(seed)
    dt = PERIOD_S * (rng.uniform(0.2, 2.0, samples - 1) if irregular else np.ones(samples - 1))
    density = W0 ** (2 * n) * NOISE**2 * PERIOD_S
    x = np.zeros((samples, n))
    for k, step in enumerate(dt):
        root = np.linalg.cholesky(density * process_noise(step, n))
        x[k + 1] = transition_matrix(step, n) @ x[k] + root @ rng.normal(size=n)
    t_s = np.r_[0.0, np.cumsum(dt)]
    return t_s, x, x[:, 0] + NOISE * rng.normal(size=samples)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_smoother_is_the_batch_least_squares_solution(n):
    # all states at once: priors, transitions and samples as one linear problem; bandwidth times
    # period is 1, where that problem is well conditioned
    samples, w0 = 30, 1 / PERIOD_S
    t_s, _, angle = matched(1, n, samples, irregular=True)
    found, cov = smooth(t_s, angle, w0, PERIOD_S, NOISE, n)
    scale = w0 ** np.arange(n)
    information = np.zeros((samples * n, samples * n))
    right = np.zeros(samples * n)
    initial = np.r_[1.0, np.full(n - 1, 1e4)]
    information[:n, :n] += np.diag(1 / initial)
    right[:n] += np.r_[angle[0], np.zeros(n - 1)] / initial
    for k in range(1, samples):
        # the first sample is the prior
        information[k * n, k * n] += 1.0
        right[k * n] += angle[k]
        e = w0 * (t_s[k] - t_s[k - 1])
        q = np.linalg.inv(process_noise(e, n))
        j = np.hstack((-transition_matrix(e, n), np.eye(n)))
        part = slice((k - 1) * n, (k + 1) * n)
        information[part, part] += j.T @ q @ j
    batch_cov = np.linalg.inv(information)
    batch = (batch_cov @ right).reshape(samples, n)
    # what the inverse of a condition number of 1e10 leaves, against the scatter of the estimate
    spread = np.sqrt(np.diag(batch_cov)).reshape(samples, n)
    assert np.abs((found / scale - batch) / (NOISE * spread)).max() < 1e-3
    for k in (0, samples // 2, samples - 1):
        block = batch_cov[k * n : (k + 1) * n, k * n : (k + 1) * n]
        off = cov[k] / np.outer(scale, scale) / NOISE**2 - block
        assert np.abs(off / np.outer(spread[k], spread[k])).max() < 1e-3


def test_error_of_the_smoother_is_what_its_covariance_says_and_below_the_filters():
    n, nees, gain = 3, [], []
    for seed in range(60):
        t_s, x, angle = matched(seed, n, 200)
        found, cov = smooth(t_s, angle, W0, PERIOD_S, NOISE, n)
        off = found[100] - x[100]
        nees.append(off @ np.linalg.solve(cov[100], off))
        forward, _ = smooth(t_s[:101], angle[:101], W0, PERIOD_S, NOISE, n)
        gain.append((found[100, 2] - x[100, 2]) ** 2 / (forward[100, 2] - x[100, 2]) ** 2)
    low, high = chi2.ppf([0.0005, 0.9995], n * 60) / 60
    assert low < np.mean(nees) < high
    assert np.median(gain) < 1.0


def test_innovations_of_the_right_model_are_white_and_of_the_stated_size():
    t_s, _, angle = matched(3, 3, 4000, irregular=True)
    innovation, variance = filter_pass(t_s, angle, W0, PERIOD_S, 3)
    normal = innovation[10:] / (NOISE * np.sqrt(variance[10:]))
    assert np.mean(normal**2) == pytest.approx(1.0, abs=4 * np.sqrt(2 / 4000))
    assert np.mean(normal[1:] * normal[:-1]) == pytest.approx(0.0, abs=4 / np.sqrt(4000))


@pytest.mark.slow
def test_likelihood_finds_bandwidth_and_noise_of_the_model_that_made_the_data():
    inside = 0
    for seed in range(20):
        t_s, _, angle = matched(seed, 3, 3000)
        found = fit_noise(t_s, angle, PERIOD_S, 3)
        assert found.bandwidth_rad_s == pytest.approx(W0, rel=0.1)
        assert found.noise_rad == pytest.approx(NOISE, rel=0.1)
        inside += found.low_rad_s <= W0 <= found.high_rad_s
    assert inside >= 16  # 95 % of 20, less three standard deviations


@pytest.mark.parametrize("times", [[0.0, 0.0, 1.0], [0.0, 2.0, 1.0]])
def test_times_that_do_not_increase_are_refused(times):
    with pytest.raises(ValueError, match="must increase"):
        smooth(np.array(times), np.zeros(3), 10.0, 1.0, 1.0)

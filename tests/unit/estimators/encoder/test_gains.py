import numpy as np
import pytest
from scipy.linalg import solve_discrete_are

from estimators.encoder.gains import (
    innovation_peak,
    process_noise,
    steady_gains,
    steady_state,
    transition_matrix,
)


def process_covariance(t, jerk_density):
    return jerk_density * np.array(
        [
            [t**5 / 20, t**4 / 8, t**3 / 6],
            [t**4 / 8, t**3 / 3, t**2 / 2],
            [t**3 / 6, t**2 / 2, t],
        ]
    )


def test_gains_of_the_published_filter():
    # printed with four digits, for w0 printed with four digits
    np.testing.assert_allclose(steady_gains(100e-6, 310.4), [0.06020, 18.69, 2900.0], rtol=5e-4)


@pytest.mark.parametrize(
    ("period_s", "bandwidth_rad_s"),
    [(1e-4, 310.4), (250e-6, 310.4), (1e-3, 300.0), (11.2e-3, 26.7), (1e-2, 300.0)],
)
def test_gains_agree_with_a_riccati_solver_in_physical_units(period_s, bandwidth_rad_s):
    # any measurement variance: only the bandwidth may matter
    r = (2 * np.pi / 2**17) ** 2 / 12
    proc_cov = process_covariance(period_s, bandwidth_rad_s**6 * r * period_s)
    transition = transition_matrix(period_s)
    scale = np.diag([1.0, 1 / bandwidth_rad_s, 1 / bandwidth_rad_s**2])
    back = np.linalg.inv(scale)
    cov = solve_discrete_are(
        (scale @ transition @ back).T,
        np.array([[1.0], [0.0], [0.0]]),
        scale @ proc_cov @ scale / r,
        [[1.0]],
    )
    expected = back @ cov[:, 0] / (cov[0, 0] + 1.0)
    # 1e-9: the solver's own accuracy on these condition numbers
    np.testing.assert_allclose(steady_gains(period_s, bandwidth_rad_s), expected, rtol=1e-9)


def test_gains_are_a_fixed_point_of_the_riccati_recursion():
    period_s, w0 = 1e-4, 100.0
    gain = steady_gains(period_s, w0)
    # many samples of the textbook recursion from a poor start, unit measurement variance
    f, q = transition_matrix(period_s), process_covariance(period_s, w0**6 * period_s)
    cov = np.diag([1.0, w0**2, w0**4])
    for _ in range(4000):
        k = cov[:, 0] / (cov[0, 0] + 1.0)
        cov = f @ (cov - np.outer(k, cov[0])) @ f.T + q
    np.testing.assert_allclose(gain, cov[:, 0] / (cov[0, 0] + 1.0), rtol=1e-7)


@pytest.mark.parametrize("epsilon", [1.1e-5, 1e-3, 0.03, 0.3, 3.0, 9.9])
def test_error_dynamics_are_stable_over_the_whole_range(epsilon):
    period_s = 1e-3
    gain = steady_gains(period_s, epsilon / period_s)
    error_map = transition_matrix(period_s) @ (np.eye(3) - np.outer(gain, [1.0, 0.0, 0.0]))
    assert np.max(np.abs(np.linalg.eigvals(error_map))) < 1.0


def test_innovation_peak_is_the_largest_of_a_simulated_acceleration_step():
    period_s = 1e-3
    gain = steady_gains(period_s, 300.0)
    estimate, f, peak = np.zeros(3), transition_matrix(period_s), 0.0
    for k in range(1, 500):
        estimate = f @ estimate
        innovation = 0.5 * (k * period_s) ** 2 - estimate[0]
        peak = max(peak, abs(innovation))
        estimate = estimate + gain * innovation
    assert innovation_peak(gain, period_s) == pytest.approx(peak, rel=1e-9)


@pytest.mark.parametrize(
    ("period_s", "bandwidth_rad_s", "named"),
    [
        (0.0, 300.0, "sample_period_s"),
        (1e-3, -1.0, "bandwidth_rad_s"),
        (1e-3, float("nan"), "bandwidth_rad_s"),
        (1.0, 310.4, "try bandwidth_rad_s = 0.3"),
    ],
)
def test_wrong_argument_is_named(period_s, bandwidth_rad_s, named):
    with pytest.raises(ValueError, match=named):
        steady_gains(period_s, bandwidth_rad_s)


@pytest.mark.parametrize("n_states", [2, 3, 4])
@pytest.mark.parametrize("epsilon", [1e-3, 0.03, 0.5])
def test_steady_state_of_every_model_agrees_with_a_riccati_solver(n_states, epsilon):
    # scaled by w0, unit variance of a sample: any bandwidth
    transition, noise = transition_matrix(epsilon, n_states), process_noise(epsilon, n_states)
    h = np.eye(n_states)[:, :1]
    cov = solve_discrete_are(transition.T, h, epsilon * noise, [[1.0]])
    found = steady_state(epsilon, 1.0, n_states)
    assert found.innovation_variance == pytest.approx(cov[0, 0] + 1.0, rel=1e-8)
    np.testing.assert_allclose(found.gain, cov[:, 0] / (cov[0, 0] + 1.0), rtol=1e-7)
    corrected = cov - np.outer(cov[:, 0], cov[0]) / (cov[0, 0] + 1.0)
    np.testing.assert_allclose(found.covariance, corrected, rtol=1e-6)


@pytest.mark.parametrize("n_states", [2, 3, 4])
def test_process_noise_is_the_integral_of_its_definition(n_states):
    # Q = int F(s) b b' F(s)' ds with b the last unit vector, by Gauss quadrature: exact for polynomials
    period_s = 0.7
    node, weight = np.polynomial.legendre.leggauss(8)
    expected = np.zeros((n_states, n_states))
    for x, w in zip(node, weight, strict=True):
        column = transition_matrix(period_s * (x + 1) / 2, n_states)[:, -1]
        expected += w * period_s / 2 * np.outer(column, column)
    np.testing.assert_allclose(process_noise(period_s, n_states), expected, rtol=1e-13)

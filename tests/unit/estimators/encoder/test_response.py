import numpy as np
import pytest
from scipy.linalg import solve_discrete_lyapunov
from scipy.signal import StateSpace, dlsim

from estimators.encoder.gains import steady_gains, transition_matrix
from estimators.encoder.response import bandwidth_for_lag, lag_s, noise, response


@pytest.mark.parametrize("n", [2, 3, 4])
def test_response_is_that_of_the_simulated_filter(n):
    period_s, hz = 1e-3, 7.0
    gain = steady_gains(period_s, 150.0, n)
    keep = np.eye(n) - np.outer(gain, np.eye(n)[0])
    system = StateSpace(
        keep @ transition_matrix(period_s, n), (keep @ transition_matrix(period_s, n) @ gain)[:, None],
        np.eye(n), gain[:, None], dt=period_s,
    )  # fmt: skip
    t = np.arange(4000) * period_s
    _, x, *_ = dlsim(system, np.sin(2 * np.pi * hz * t)[:, None])
    basis = np.c_[np.sin(2 * np.pi * hz * t), np.cos(2 * np.pi * hz * t)][1000:]
    s, c = np.linalg.lstsq(basis, x[1000:], rcond=None)[0]
    expected = (s + 1j * c) / (2j * np.pi * hz) ** np.arange(n)
    np.testing.assert_allclose(response(gain, period_s, [hz])[0], expected, rtol=1e-9)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_noise_solves_the_lyapunov_equation(n):
    # a period of 1 s: all states of one size, so that the solver keeps its digits
    gain = steady_gains(1.0, 0.3, n)
    keep = np.eye(n) - np.outer(gain, np.eye(n)[0])
    cov = solve_discrete_lyapunov(keep @ transition_matrix(1.0, n), 4.0 * np.outer(gain, gain))
    np.testing.assert_allclose(noise(gain, 1.0, 2.0), np.sqrt(np.diag(cov)), rtol=1e-9)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_bandwidth_gives_the_wanted_lag(n):
    bandwidth = bandwidth_for_lag(5e-3, 5e-4, n, 3.0)
    gain = steady_gains(5e-4, bandwidth, n)
    assert lag_s(gain, 5e-4, [3.0])[0, -1] == pytest.approx(5e-3, rel=1e-6)

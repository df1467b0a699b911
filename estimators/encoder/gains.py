"""Steady-state gains of the encoder Kalman filter: angle and its derivatives from angle counts.

Model: n states, the last of them driven by white noise of density `q` (n = 3: white jerk), angle
measured with variance `r`,

    F = [T^(j-i) / (j-i)!],   H = [1, 0 ...],
    Q = q [T^(2n-1-i-j) / ((n-1-i)! (n-1-j)! (2n-1-i-j))].

Only `w0 = (q / (r T))^(1/2n)`, the bandwidth, and the sample period T enter the gains: the
resolution of the encoder drops out. State i is scaled by w0^i here, which leaves `epsilon = w0 T`
alone.

The filter's own gains, of `encoder_covariance`, converge to these while samples are on time. Nothing
may filter with them alone: at another interval they are unstable.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# states of each model of the motion between two samples
MODELS = {"constant_velocity": 2, "constant_acceleration": 3, "constant_jerk": 4}

# below, the scaled covariance loses digits; above, the filter is a plain difference quotient
MIN_EPSILON, MAX_EPSILON = 1e-5, 10.0
MAX_DOUBLINGS = 60


@dataclass(frozen=True)
class SteadyState:
    """Steady state of the filter for equally spaced samples.

    Attributes
    ----------
    gain : ndarray of float64, shape (n,)
        On the innovation in rad: angle (1), rate (1/s), acceleration (1/s^2), jerk (1/s^3).
    innovation_variance : float
        In units of the variance of a sample.
    covariance : ndarray of float64, shape (n, n)
        Of the corrected estimate, in units of the variance of a sample: rad, rad/s ...
    """

    gain: Array
    innovation_variance: float
    covariance: Array


def epsilon_problem(sample_period_s: float, bandwidth_rad_s: float) -> tuple[str, str] | None:
    """Return why no filter of this bandwidth suits the samples, and one that does; None where it suits them."""
    epsilon = bandwidth_rad_s * sample_period_s
    if MIN_EPSILON <= epsilon <= MAX_EPSILON:
        return None
    problem = (
        f"with samples every {sample_period_s:g} s: their product is {epsilon:.3g} and must be in "
        f"{MIN_EPSILON:g} ... {MAX_EPSILON:g}"
    )
    return problem, f"try bandwidth_rad_s = {0.3 / sample_period_s:.4g}"


def steady_state(sample_period_s: float, bandwidth_rad_s: float, n_states: int = 3) -> SteadyState:
    """Steady state of the Kalman filter for one angle sample every `sample_period_s`.

    Parameters
    ----------
    sample_period_s : float
        Time between two samples (not between two cycles), > 0.
    bandwidth_rad_s : float
        `w0`; with three states the acceleration lags by about `2 / w0`. 310.4 at 100 us gives the
        published 6.4 ms.
    n_states : int, optional
        2 (constant velocity), 3 (constant acceleration) or 4 (constant jerk).

    Returns
    -------
    SteadyState

    Raises
    ------
    ValueError
        A time or bandwidth is not positive and finite, or `w0 T` is outside 1e-5 ... 10.

    Real time
    ---------
    Not safe: allocates. Called once, before the first cycle.

    Source
    ------
    Discrete Riccati equation solved by structured doubling: Anderson 1978,
    doi:10.1080/00207727808941794; Chu, Fan, Lin, Wang 2004, doi:10.1080/00207170410001714988.
    """
    for name, value in (
        ("sample_period_s", sample_period_s),
        ("bandwidth_rad_s", bandwidth_rad_s),
    ):
        if not (np.isfinite(value) and value > 0.0):
            raise ValueError(f"{name} = {value}: must be a positive number")
    problem = epsilon_problem(sample_period_s, bandwidth_rad_s)
    if problem:
        raise ValueError(f"bandwidth_rad_s = {bandwidth_rad_s:g} {'; '.join(problem)}")
    epsilon = bandwidth_rad_s * sample_period_s
    cov = _predicted_covariance(
        transition_matrix(epsilon, n_states), epsilon * process_noise(epsilon, n_states)
    )
    variance = cov[0, 0] + 1.0
    gain = cov[:, 0] / variance
    scale = bandwidth_rad_s ** np.arange(n_states)
    keep = np.eye(n_states) - np.outer(gain, np.eye(n_states)[0])
    joseph = keep @ cov @ keep.T + np.outer(gain, gain)
    return SteadyState(gain * scale, float(variance), joseph * np.outer(scale, scale))


def steady_gains(sample_period_s: float, bandwidth_rad_s: float, n_states: int = 3) -> Array:
    """Gains of `steady_state` alone, shape (n_states,)."""
    return steady_state(sample_period_s, bandwidth_rad_s, n_states).gain


def innovation_peak(gain: Array, sample_period_s: float) -> float:
    """Largest innovation that a step of the true acceleration by 1 rad/s^2 causes, in rad.

    It scales with the step, so it separates motions of a wheel from those that only a faulty encoder
    can.

    Parameters
    ----------
    gain : ndarray of float64, shape (n,)
        From `steady_gains`.
    sample_period_s : float
        The sample period of these gains.

    Returns
    -------
    float
        rad per rad/s^2.

    Real time
    ---------
    Not safe: allocates. Called once, before the first cycle.
    """
    # constant velocity knows no acceleration: its error is a state that is never corrected
    n = max(len(gain), 3)
    transition = transition_matrix(sample_period_s, n)
    gain = np.r_[gain, np.zeros(n - len(gain))]
    error, peak, last = np.zeros(n), 0.0, 0.0
    error[2] = 1.0
    # the error has died out, or settled, after some tens of 1/w0; the bound only ends the search
    for _ in range(100_000):
        error = transition @ error
        innovation = error[0]
        if abs(innovation) < 0.5 * peak or abs(innovation - last) < 1e-9 * peak:
            return max(peak, abs(innovation))
        peak, last = max(peak, abs(innovation)), innovation
        error = error - gain * innovation
    return peak


def transition_matrix(period_s: float, n_states: int = 3) -> Array:
    """F over `period_s`, shape (n_states, n_states)."""
    f = np.zeros((n_states, n_states))
    for i in range(n_states):
        for j in range(i, n_states):
            f[i, j] = period_s ** (j - i) / factorial(j - i)
    return f


def process_noise(period_s: float, n_states: int = 3) -> Array:
    """Q over `period_s` for unit density, shape (n_states, n_states)."""
    left = n_states - 1 - np.arange(n_states)
    power = left[:, None] + left + 1
    factor = np.array([factorial(k) for k in left], float)
    return np.asarray(period_s ** power.astype(float) / (np.outer(factor, factor) * power))


def _predicted_covariance(transition: Array, proc_cov: Array) -> Array:
    """Stabilising solution of P = F (P - P H' (H P H' + 1)^-1 H P) F' + Q, H = [1, 0 ...].

    Doubling: step k gives the Riccati recursion after 2^k samples.
    """
    n = len(transition)
    eye = np.eye(n)
    a, cov = transition.T.copy(), proc_cov.copy()
    g = np.zeros((n, n))
    g[0, 0] = 1.0
    for _ in range(MAX_DOUBLINGS):
        inverse = np.linalg.inv(eye + g @ cov)
        step = a.T @ cov @ inverse @ a
        g = g + a @ inverse @ g @ a.T
        a = a @ inverse @ a
        cov = cov + step
        cov, g = (cov + cov.T) / 2, (g + g.T) / 2
        if np.max(np.abs(step)) <= 1e-15 * np.max(np.abs(cov)):
            return cov
    raise ArithmeticError("Riccati doubling did not converge")  # unreachable within the limits

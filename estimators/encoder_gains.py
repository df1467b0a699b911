"""Steady-state gains of the encoder Kalman filter: angle, rate and acceleration from angle counts.

Model: constant acceleration with white jerk of density `q_j`, angle measured with variance `r`,

    F = [[1, T, T^2/2], [0, 1, T], [0, 0, 1]],   H = [1, 0, 0],
    Q = q_j [[T^5/20, T^4/8, T^3/6], [T^4/8, T^3/3, T^2/2], [T^3/6, T^2/2, T]].

Only `w0 = (q_j / (r T))^(1/6)`, the bandwidth, and the sample period T enter the gains: the
resolution of the encoder drops out. Rate and acceleration are scaled by w0 and w0^2 here, which
leaves `epsilon = w0 T` alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# below, the scaled covariance loses digits; above, the filter is a plain difference quotient
MIN_EPSILON, MAX_EPSILON = 1e-5, 10.0
MAX_DOUBLINGS = 60


def steady_gains(sample_period_s: float, bandwidth_rad_s: float) -> Array:
    """Steady-state Kalman gains for one angle sample every `sample_period_s`.

    Parameters
    ----------
    sample_period_s : float
        Time between two samples (not between two cycles), > 0.
    bandwidth_rad_s : float
        `w0`; the acceleration lags by about `2 / w0`. 310.4 at 100 us gives the published 6.4 ms.

    Returns
    -------
    ndarray of float64, shape (3,)
        Gains on the innovation in rad: angle (1), rate (1/s), acceleration (1/s^2).

    Raises
    ------
    ValueError
        An argument is not positive and finite, or `w0 T` is outside 1e-5 ... 10.

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
    epsilon = bandwidth_rad_s * sample_period_s
    if not MIN_EPSILON <= epsilon <= MAX_EPSILON:
        raise ValueError(
            f"bandwidth_rad_s = {bandwidth_rad_s:g} with samples every {sample_period_s:g} s: "
            f"their product is {epsilon:.3g} and must be in {MIN_EPSILON:g} ... {MAX_EPSILON:g}; "
            f"try bandwidth_rad_s = {0.3 / sample_period_s:.4g}"
        )
    cov = _predicted_covariance(*_scaled_model(epsilon))
    gain = cov[:, 0] / (cov[0, 0] + 1.0)
    return gain * np.array([1.0, bandwidth_rad_s, bandwidth_rad_s**2])


def innovation_peak(gain: Array, sample_period_s: float) -> float:
    """Largest innovation that a step of the true acceleration by 1 rad/s^2 causes, in rad.

    It scales with the step, so it tells apart what a wheel can do from what only a faulty encoder
    can.

    Parameters
    ----------
    gain : ndarray of float64, shape (3,)
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
    transition = transition_matrix(sample_period_s)
    error, peak = np.array([0.0, 0.0, 1.0]), 0.0
    # the error has died out after some tens of 1/w0; the bound only ends the search
    for _ in range(100_000):
        error = transition @ error
        innovation = error[0]
        if abs(innovation) < 0.5 * peak:
            return peak
        peak = max(peak, abs(innovation))
        error = error - gain * innovation
    return peak


def transition_matrix(period_s: float) -> Array:
    """F of the constant-acceleration model over `period_s`, shape (3, 3)."""
    return np.array([[1.0, period_s, period_s**2 / 2], [0.0, 1.0, period_s], [0.0, 0.0, 1.0]])


def _scaled_model(epsilon: float) -> tuple[Array, Array]:
    """F and Q for states (angle, rate / w0, acceleration / w0^2), unit measurement variance."""
    e = epsilon
    proc_cov = np.array(
        [
            [e**6 / 20, e**5 / 8, e**4 / 6],
            [e**5 / 8, e**4 / 3, e**3 / 2],
            [e**4 / 6, e**3 / 2, e**2],
        ]
    )
    return transition_matrix(e), proc_cov


def _predicted_covariance(transition: Array, proc_cov: Array) -> Array:
    """Stabilising solution of P = F (P - P H' (H P H' + 1)^-1 H P) F' + Q, H = [1, 0, 0].

    Doubling: step k gives the Riccati recursion after 2^k samples.
    """
    eye = np.eye(3)
    a, cov = transition.T.copy(), proc_cov.copy()
    g = np.zeros((3, 3))
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

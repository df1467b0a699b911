"""Response of an encoder filter in steady state to a sine and to noise, in closed form.

    x_k = A x_k-1 + K y_k,   A = (I - K H) F,   X(z) / Y(z) = (I - A / z)^-1 K

The lag of state i is the phase of X_i against the true derivative, (j omega)^i Y.
"""

from __future__ import annotations

from math import pi

import numpy as np
from numpy.typing import NDArray

from estimators.encoder.gains import MAX_EPSILON, MIN_EPSILON, steady_gains, transition_matrix
from estimators.numerics.bisection import boundary

Array = NDArray[np.float64]


def response(gain: Array, sample_period_s: float, frequency_hz: Array) -> NDArray[np.complex128]:
    """Estimate over truth for a sine of the angle; 1 is perfect.

    Parameters
    ----------
    gain : ndarray of float64, shape (n,)
        From `steady_gains`.
    sample_period_s : float
        Of these gains.
    frequency_hz : ndarray of float64, shape (n_frequencies,)
        > 0, below half the sample rate.

    Returns
    -------
    ndarray of complex128, shape (n_frequencies, n)

    Real time
    ---------
    Not safe: allocates.

    Source
    ------
    Bar-Shalom, Li, Kirubarajan 2001, section 6.5 (alpha-beta-gamma filters).
    """
    n = len(gain)
    feedback = _feedback(gain, sample_period_s)
    omega = 2 * pi * np.asarray(frequency_hz, float)
    z = np.exp(1j * omega * sample_period_s)
    found = np.linalg.solve(
        np.eye(n) - feedback / z[:, None, None], np.broadcast_to(gain, (len(z), n))[..., None]
    )[..., 0]
    return np.asarray(found / (1j * omega[:, None]) ** np.arange(n))


def lag_s(gain: Array, sample_period_s: float, frequency_hz: Array) -> Array:
    """Lag of each state at each frequency, shape (n_frequencies, n); negative: a lead."""
    frequency_hz = np.asarray(frequency_hz, float)
    phase = np.angle(response(gain, sample_period_s, frequency_hz))
    return np.asarray(-phase / (2 * pi * frequency_hz[:, None]))


def noise(gain: Array, sample_period_s: float, noise_rad: float) -> Array:
    """Standard deviation of each state from white noise of the samples alone, shape (n,).

    Parameters
    ----------
    gain : ndarray of float64, shape (n,)
    sample_period_s : float
    noise_rad : float
        Standard deviation of a sample; that of rounding is a count over sqrt(12).
    """
    # P = A P A' + K r K', scaled so that all states are of one size
    n = len(gain)
    scale = sample_period_s ** -np.arange(n, dtype=float)
    feedback = _feedback(gain, sample_period_s) * scale / scale[:, None]
    k = gain / scale
    cov = np.linalg.solve(np.eye(n * n) - np.kron(feedback, feedback), np.kron(k, k))
    return np.asarray(noise_rad * scale * np.sqrt(np.diag(cov.reshape(n, n))))


def bandwidth_for_lag(
    wanted_s: float, sample_period_s: float, n_states: int = 3, frequency_hz: float = 4.0
) -> float:
    """Bandwidth at which the highest derivative lags by `wanted_s` for a sine of `frequency_hz`.

    Parameters
    ----------
    wanted_s : float
        Lag of the acceleration (of the rate, of the jerk for 2 and 4 states), > 0.
    sample_period_s : float
    n_states : int, optional
    frequency_hz : float, optional

    Returns
    -------
    float
        `w0`, rad/s.

    Raises
    ------
    ValueError
        No bandwidth gives this lag with such samples; the message gives the possible range.

    Real time
    ---------
    Not safe: allocates.
    """

    def lag(log_w0: float) -> float:
        gain = steady_gains(sample_period_s, float(np.exp(log_w0)), n_states)
        return float(lag_s(gain, sample_period_s, np.array([frequency_hz]))[0, -1])

    # slower than the sine itself the lag is a matter of turns, and no more monotonic
    low = np.log(max(MIN_EPSILON / sample_period_s, 4 * pi * frequency_hz))
    high = np.log(0.999 * MAX_EPSILON / sample_period_s)
    longest, shortest = lag(low), lag(high)
    if not shortest <= wanted_s <= longest:
        raise ValueError(
            f"a lag of {1e3 * wanted_s:g} ms at {frequency_hz:g} Hz: with samples every "
            f"{1e3 * sample_period_s:g} ms it can be {1e3 * shortest:.3g} ... {1e3 * longest:.3g} ms"
        )
    return float(np.exp(boundary(lambda at: lag(at) > wanted_s, low, high)))


def _feedback(gain: Array, sample_period_s: float) -> Array:
    n = len(gain)
    keep = np.eye(n)
    keep[:, 0] -= gain
    return np.asarray(keep @ transition_matrix(sample_period_s, n))

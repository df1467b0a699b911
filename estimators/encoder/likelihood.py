"""Process noise of the encoder filter from recorded angles, by maximum likelihood.

The innovations of the right filter are white with the variances that it says. With the noise of a
sample concentrated out, r = mean(innovation^2 / variance), one number is left to search: w0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from estimators.encoder.gains import MAX_EPSILON
from estimators.encoder.rts_smoother import filter_pass
from estimators.numerics.bisection import boundary

Array = NDArray[np.float64]

# a filter that is faster than the samples, or slower than the record, fits nothing
MOST_EPSILON = 3.0
LEAST_TURNS = 3.0
GRID = 25


@dataclass(frozen=True)
class FittedNoise:
    """Maximum-likelihood noise of an encoder filter.

    Attributes
    ----------
    bandwidth_rad_s : float
        `w0`.
    low_rad_s, high_rad_s : float
        95 % interval of it, by the likelihood ratio.
    noise_rad : float
        Standard deviation of a sample.
    log_likelihood : float
        Of the innovations, at the maximum.
    whiteness : float
        Correlation of neighbouring normalised innovations; 0 for the right model.
    at_edge : bool
        The maximum lies at an end of the range searched: no such model fits.
    """

    bandwidth_rad_s: float
    low_rad_s: float
    high_rad_s: float
    noise_rad: float
    log_likelihood: float
    whiteness: float
    at_edge: bool


def fit_noise(
    t_s: Array, angle_rad: Array, sample_period_s: float, n_states: int = 3
) -> FittedNoise:
    """Fit bandwidth and sample noise to recorded angles.

    Parameters
    ----------
    t_s, angle_rad : ndarray of float64, shape (n,)
        Samples of a motion, n > 50; times strictly increasing.
    sample_period_s : float
        Nominal time between two samples.
    n_states : int, optional
        2, 3 or 4.

    Returns
    -------
    FittedNoise

    Raises
    ------
    ValueError
        Too few samples, or the angle never changes.

    Real time
    ---------
    Not safe: offline.

    Source
    ------
    Schweppe 1965, doi:10.1109/TIT.1965.1053737; profile likelihood interval: Wilks 1938.
    """
    if len(t_s) <= 50 or np.ptp(angle_rad) == 0.0:
        raise ValueError(
            f"{len(t_s)} samples over {np.ptp(angle_rad):.3g} rad: a fit needs a motion of more "
            "than 50 samples"
        )
    low = LEAST_TURNS * 2 * np.pi / (t_s[-1] - t_s[0])
    high = min(MOST_EPSILON, MAX_EPSILON) / sample_period_s

    def value(log_w0: float) -> float:
        return _profile(t_s, angle_rad, np.exp(log_w0), sample_period_s, n_states)[0]

    grid = np.linspace(np.log(low), np.log(high), GRID)
    values = [value(x) for x in grid]
    best = int(np.argmax(values))
    left, right = grid[max(best - 1, 0)], grid[min(best + 1, GRID - 1)]
    log_w0 = _golden(value, left, right)
    found, noise_rad, whiteness = _profile(
        t_s, angle_rad, np.exp(log_w0), sample_period_s, n_states
    )
    # chi-square with one degree of freedom, 95 %: 3.84
    threshold = found - 0.5 * 3.841
    return FittedNoise(
        bandwidth_rad_s=float(np.exp(log_w0)),
        low_rad_s=float(np.exp(_crossing(value, threshold, log_w0, np.log(low)))),
        high_rad_s=float(np.exp(_crossing(value, threshold, log_w0, np.log(high)))),
        noise_rad=noise_rad,
        log_likelihood=found,
        whiteness=whiteness,
        at_edge=best in (0, GRID - 1),
    )


def _profile(
    t_s: Array, angle_rad: Array, w0: float, period_s: float, n_states: int
) -> tuple[float, float, float]:
    # the first samples only place the state
    innovation, variance = filter_pass(t_s, angle_rad, w0, period_s, n_states)
    innovation, variance = innovation[2 * n_states :], variance[2 * n_states :]
    r = float(np.mean(innovation**2 / variance))
    n = len(innovation)
    value = -0.5 * (n * np.log(2 * np.pi * r) + float(np.sum(np.log(variance))) + n)
    normal = innovation / np.sqrt(r * variance)
    return float(value), float(np.sqrt(r)), float(np.mean(normal[1:] * normal[:-1]))


def _golden(value: Callable[[float], float], left: float, right: float) -> float:
    ratio = (np.sqrt(5.0) - 1.0) / 2.0
    a, b = right - ratio * (right - left), left + ratio * (right - left)
    at_a, at_b = value(a), value(b)
    for _ in range(30):
        if at_a > at_b:
            right, b, at_b = b, a, at_a
            a = right - ratio * (right - left)
            at_a = value(a)
        else:
            left, a, at_a = a, b, at_b
            b = left + ratio * (right - left)
            at_b = value(b)
    return float(0.5 * (left + right))


def _crossing(
    value: Callable[[float], float], threshold: float, inside: float, end: float
) -> float:
    # where the likelihood falls below the threshold between the maximum and an end of the range
    if value(end) > threshold:
        return end
    return boundary(lambda at: value(at) > threshold, inside, end, 25)

"""Quantiles of the chi-square distribution: bounds of a consistent filter's squared errors."""

from __future__ import annotations

import math
from statistics import NormalDist

from estimators.numerics.bisection import boundary

BOUND = 0.95  # probability that the `nis` of a consistent filter lies within its bounds
SERIES_DEGREES = 300  # above, the first term of the series underflows


def cumulative(value: float, degrees: int) -> float:
    """Probability that a chi-square variable of `degrees` is at most `value`.

    Source
    ------
    Regularised incomplete gamma function by its power series, which converges for every argument.
    """
    if value <= 0.0:
        return 0.0
    a, x = degrees / 2.0, value / 2.0
    term = math.exp(a * math.log(x) - x - math.lgamma(a + 1.0))
    total, k = 0.0, 0
    while term > 1e-17 * total or k < x:
        total += term
        k += 1
        term *= x / (a + k)
    return min(total, 1.0)


def quantile(probability: float, degrees: int) -> float:
    """Value that a chi-square variable of `degrees` does not exceed with `probability`.

    Raises
    ------
    ValueError
        `probability` is not in (0, 1), or `degrees` is below one.
    """
    if not (0.0 < probability < 1.0 and degrees >= 1):
        raise ValueError(
            f"probability = {probability}, degrees = {degrees}: must be within (0, 1), and one or more"
        )
    if degrees > SERIES_DEGREES:
        # cube root of Wilson and Hilferty 1931, good to 1e-4 here
        share = 2.0 / (9.0 * degrees)
        deviate = NormalDist().inv_cdf(probability)
        return degrees * (1.0 - share + deviate * math.sqrt(share)) ** 3
    low, high = 0.0, 1.0
    while cumulative(high, degrees) < probability:
        high *= 2.0
    return boundary(lambda x: cumulative(x, degrees) < probability, low, high, 100)


def bounds_of_sums(most: int) -> list[tuple[float, float]]:
    """Intervals that hold the sums of 0, 1, ... `most` squared normal numbers with probability `BOUND`."""
    tail = (1.0 - BOUND) / 2.0
    ends = [(quantile(tail, k), quantile((1.0 + BOUND) / 2.0, k)) for k in range(1, most + 1)]
    return [(0.0, 0.0), *ends]


def mean_bounds(probability: float, degrees: int, samples: int) -> tuple[float, float]:
    """Interval that holds the mean of `samples` independent squared errors with `probability`.

    Parameters
    ----------
    degrees : int
        Of one squared error: sensors of a sample (NIS), or states (NEES).
    """
    tail = (1.0 - probability) / 2.0
    n = degrees * samples
    return quantile(tail, n) / samples, quantile(1.0 - tail, n) / samples

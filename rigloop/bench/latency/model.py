"""The expected latency, and the figures of the measured one.

A sign change falls anywhere between two ticks of the simulation, and the rest of the way takes as long every time:

    latency = D + uniform over Ts,    D = filter delay + 3 Te.

Te is the period of the estimation task. A simulation tick sees what estimation published before, a period ago at the
latest tick they share; its torque waits for the next cycle of estimation, and goes out with the frame of the one after.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators.encoder.gains import steady_gains

Array = NDArray[np.float64]

PATH_CYCLES = 3  # of estimation: published, guarded, sent
LOG_STEP_NS = 200_000.0  # of the published test: what T9 allows beyond Ts + D
PUBLISHED_NS = 2_200_000.0  # largest latency beyond Ts, with bus and drive, at 1 ms and at 5 ms


@dataclass(frozen=True)
class Figures:
    """Summary of a distribution, ns. Of fewer than 1000 values, p99_9 is the largest."""

    n: int
    mean: float
    min: float
    p50: float
    p99: float
    p99_9: float
    max: float


def figures(values: ArrayLike) -> Figures | None:
    """Return the figures of what is finite in `values`; None if nothing is."""
    x = np.asarray(values, float)
    x = x[np.isfinite(x)]
    if not len(x):
        return None
    # the next larger of the values themselves: a percentile never looks better than what was seen
    p50, p99, p99_9 = np.percentile(x, (50, 99, 99.9), method="higher")
    return Figures(
        len(x),
        float(x.mean()),
        float(x.min()),
        float(p50),
        float(p99),
        float(p99_9),
        float(x.max()),
    )


def filter_delay_ns(period_ns: float, bandwidth_rad_s: float, frequency_hz: float) -> float:
    """Return the delay of the encoder filter's angle on a sine; below 0 where it leads.

    The filter in steady state is x <- (I - K H) F x + K z. The delay is that of its phase,
    -arg G(exp(i w T)) / w, with G = H (I - (I - K H) F / z)^-1 K.
    """
    period_s, w = period_ns * 1e-9, 2 * np.pi * frequency_hz
    gain = steady_gains(period_s, bandwidth_rad_s)[:, None]
    step = np.array([[1, period_s, period_s**2 / 2], [0, 1, period_s], [0, 0, 1]])
    back = (np.eye(3) - gain @ [[1.0, 0.0, 0.0]]) @ step * np.exp(-1j * w * period_s)
    response = np.linalg.solve(np.eye(3) - back, gain)[0, 0]
    return float(-np.angle(response) / w * 1e9)


def path_delay_ns(fast_ns: float, filter_ns: float) -> float:
    """Return D, the configured delay of the path."""
    return PATH_CYCLES * fast_ns + filter_ns


def frequency_hz(t0_ns: Array) -> float:
    """Return the frequency that the wheel is driven with, from its sign changes (ns)."""
    return float(0.5e9 / np.median(np.diff(np.sort(t0_ns))))


def distance(latency_ns: Array, delay_ns: float, slow_ns: float) -> float:
    """Return the largest difference between the distributions of the latency and of the model (Kolmogorov, Smirnov)."""
    x = np.sort(latency_ns)
    model = np.clip((x - delay_ns) / slow_ns, 0.0, 1.0)
    n = len(x)
    return float(max((np.arange(1, n + 1) / n - model).max(), (model - np.arange(n) / n).max()))


def allowed_distance(n: int, slow_ns: float) -> float:
    """Return how far the distribution may be from the model: one log step aside, and chance of 1 in 100.

    1.63 / sqrt(n) is the distance that n values of the very model exceed once in a hundred times.
    """
    return min(1.0, LOG_STEP_NS / slow_ns + 1.63 / math.sqrt(n))

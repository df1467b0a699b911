"""Tuning of an encoder filter: from resolution, step and wanted bandwidth or lag to what it will do."""

from __future__ import annotations

import math
from typing import NamedTuple

import msgspec
import numpy as np

from estimators.encoder.gains import MODELS, steady_gains, steady_state
from estimators.encoder.likelihood import FittedNoise, fit_noise
from estimators.encoder.response import bandwidth_for_lag, noise, response
from io_bridge.logs.formats.table import LogError
from io_bridge.logs.reader import EncoderLog
from rig_configs.mistakes import ConfigError, Mistake

STATES = ("angle", "rate", "acceleration", "jerk")
UNITS = ("rad", "rad/s", "rad/s²", "rad/s³")
TABLE_HZ = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
POINTS = 200


class Curve(msgspec.Struct, frozen=True):
    """Lag and amplitude of one state over frequency."""

    state: str
    lag_ms: list[float]
    amplitude: list[float]


class Tuning(msgspec.Struct, frozen=True):
    """A filter and what it does.

    `noise` is of each state, from the noise of the samples alone; `settling_ms` is until a wrong start has
    died out to 0.2 %. `frequency_hz` are the abscissae of the curves.
    """

    model: str
    counts_per_rev: float
    period_s: float
    bandwidth_rad_s: float
    noise_rad: float
    gain: list[float]
    innovation_rad: float
    noise: dict[str, float]
    settling_ms: float
    frequency_hz: list[float]
    curves: list[Curve]


class Wish(NamedTuple):
    """The bandwidth `w0` that is wanted, or the lag of the highest derivative at a frequency: one of them."""

    bandwidth_rad_s: float | None = None
    lag_ms: float | None = None
    at_hz: float = 4.0


def tune(
    counts_per_rev: float,
    period_s: float,
    wish: Wish,
    *,
    model: str = "constant_acceleration",
    noise_rad: float | None = None,
) -> Tuning:
    """Tune an encoder filter.

    Parameters
    ----------
    counts_per_rev : float
        Resolution of the encoder.
    period_s : float
        Time between two samples.
    wish : Wish
    model : str, optional
        Of `MODELS`.
    noise_rad : float, optional
        Standard deviation of a sample; that of rounding if not given.

    Raises
    ------
    ConfigError
        Not exactly one of bandwidth and lag, or one that these samples cannot give.
    """
    bandwidth_rad_s, lag_ms, at_hz = wish
    if (bandwidth_rad_s is None) == (lag_ms is None):
        words = "give one of --bandwidth, --lag-ms and --log"
        raise ConfigError([Mistake("command line", "--bandwidth", "wanted what?", words)])
    n = MODELS[model]
    try:
        if bandwidth_rad_s is None:
            assert lag_ms is not None
            bandwidth_rad_s = bandwidth_for_lag(1e-3 * lag_ms, period_s, n, at_hz)
        steady = steady_state(period_s, bandwidth_rad_s, n)
    except ValueError as error:
        key = "--lag-ms" if lag_ms is not None else "--bandwidth"
        raise ConfigError([Mistake("command line", key, str(error))]) from error
    if noise_rad is None:
        noise_rad = 2 * math.pi / counts_per_rev / math.sqrt(12.0)
    spread = noise(steady.gain, period_s, noise_rad)
    highest = min(0.45 / period_s, bandwidth_rad_s)
    frequency = np.geomspace(0.1, highest, POINTS)
    found = response(steady.gain, period_s, frequency)
    lag = -np.unwrap(np.angle(found), axis=0) / (2 * np.pi * frequency[:, None])
    return Tuning(
        model=model,
        counts_per_rev=counts_per_rev,
        period_s=period_s,
        bandwidth_rad_s=bandwidth_rad_s,
        noise_rad=noise_rad,
        gain=steady.gain.tolist(),
        innovation_rad=noise_rad * math.sqrt(steady.innovation_variance),
        noise=dict(zip(STATES, spread.tolist(), strict=False)),
        settling_ms=6e3 / (math.sin(math.pi / (2 * n)) * bandwidth_rad_s),
        frequency_hz=frequency.tolist(),
        curves=[
            Curve(state, (1e3 * lag[:, i]).tolist(), np.abs(found[:, i]).tolist())
            for i, state in enumerate(STATES[:n])
        ],
    )


def at(tuning: Tuning, frequency_hz: float) -> list[tuple[float, float]]:
    """Lag in ms and amplitude of each state at one frequency."""
    gain = steady_gains(tuning.period_s, tuning.bandwidth_rad_s, len(tuning.gain))
    found = response(gain, tuning.period_s, np.array([frequency_hz]))[0]
    return [(float(-1e3 * np.angle(h) / (2 * np.pi * frequency_hz)), abs(h)) for h in found]


def fit(log: EncoderLog, model: str, stretch: tuple[float, float] | None) -> FittedNoise:
    """Fit bandwidth and sample noise to a stretch of a log by maximum likelihood.

    Raises
    ------
    LogError
        Too few samples, or a wheel that rests.
    """
    low, high = stretch or (0.0, math.inf)
    inside = (log.t_s >= low) & (log.t_s < high)
    try:
        return fit_noise(log.t_s[inside], log.angle_rad[inside], log.sample_period_s, MODELS[model])
    except ValueError as error:
        raise LogError(f"{log.path}: {error}") from error

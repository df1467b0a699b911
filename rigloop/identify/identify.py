"""Inertia and friction of a rotor from a log of angle and torque, with confidence intervals.

    torque = J acceleration + d rate + c tanh(rate / w_c) + offset

by least squares over a stretch without hands; the motion comes from a smoother, which has no lag.
Residuals of real logs are not white, so the intervals are those of Newey and West (1987) with the
bandwidth of Andrews (1991).
"""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from estimators.encoder.rts_smoother import smooth
from io_bridge.logs.formats.table import LogError
from io_bridge.logs.reader import EncoderLog
from rig_configs.mistakes import ConfigError, Mistake

Array = NDArray[np.float64]

COULOMB_RATE_RAD_S = 0.3  # friction turns its sign over this rate; below it nothing tells it apart
LEAST_SAMPLES = 200
MOST_UNEXPLAINED = (
    0.5  # of the torque's RMS; above, the rest of the torque decides what inertia comes out
)
BANDWIDTHS = np.geomspace(0.02, 0.6, 18)  # times the sample rate
NORMAL_95 = 1.959964
UNITS = {"inertia": "kg m²", "viscous": "N m s", "coulomb": "N m", "offset": "N m"}


class Parameter(msgspec.Struct, frozen=True):
    """An identified parameter and its 95 % interval."""

    name: str
    unit: str
    value: float
    low: float
    high: float


class Identification(msgspec.Struct, frozen=True):
    """The rotor's parameters, as a stretch of a log gives them.

    `friction_delay_ms` is the delay of the torque sensor that would look like the viscous friction:
    one frequency alone does not separate the two.
    """

    log: str
    torque: str
    from_s: float
    to_s: float
    samples: int
    bandwidth_rad_s: float
    parameters: tuple[Parameter, ...]
    torque_rms_nm: float
    residual_rms_nm: float
    friction_delay_ms: float

    def value(self, name: str) -> float:
        """Value of a parameter."""
        return next(p.value for p in self.parameters if p.name == name)


def identify(log: EncoderLog, torque: str, from_s: float, to_s: float) -> Identification:
    """Identify a rotor from one stretch of a log.

    Parameters
    ----------
    log : EncoderLog
    torque : str
        Key of `log.torque`, in N m: the torque that turns the rotor.
    from_s, to_s : float
        The stretch, s from the first sample.

    Returns
    -------
    Identification

    Raises
    ------
    LogError
        Too few samples in the stretch, or a wheel that rests.
    """
    inside = (log.t_s >= from_s) & (log.t_s < to_s) & np.isfinite(log.torque[torque])
    n = int(inside.sum())
    if n < LEAST_SAMPLES:
        raise LogError(
            f"{log.path}: {n} samples with {torque} from {from_s:g} to {to_s:g} s, "
            f"at least {LEAST_SAMPLES} are needed; the log has {log.duration_s:.2f} s"
        )
    t_s, angle, measured = log.t_s[inside], log.angle_rad[inside], log.torque[torque][inside]
    if np.ptp(angle) == 0.0:
        raise LogError(f"{log.path}: the wheel rests from {from_s:g} to {to_s:g} s")
    rad_per_count = 2 * np.pi / log.mapping.angle.counts_per_rev
    noise_rad = rad_per_count / np.sqrt(12.0)
    best = None
    for bandwidth in BANDWIDTHS / log.sample_period_s:
        state, _ = smooth(t_s, angle, bandwidth, log.sample_period_s, noise_rad)
        x = regressors(state[:, 1], state[:, 2])
        found, *_ = np.linalg.lstsq(x, measured, rcond=None)
        residual = measured - x @ found
        if best is None or residual @ residual < best[0]:
            best = residual @ residual, bandwidth, x, found, residual, state[:, 1:3]
    assert best is not None
    _, bandwidth, x, found, residual, motion = best
    half = NORMAL_95 * np.sqrt(np.diag(newey_west(x, residual)))
    parameters = tuple(
        Parameter(name, unit, float(v), float(v - h), float(v + h))
        for (name, unit), v, h in zip(UNITS.items(), found, half, strict=True)
    )
    # d rate is what a delay of J acceleration looks like: delay = d |rate|^2 / (J |acceleration|^2)
    rate, acceleration = np.mean(motion**2, axis=0)
    return Identification(
        log=log.path.name,
        torque=torque,
        from_s=from_s,
        to_s=to_s,
        samples=n,
        bandwidth_rad_s=float(bandwidth),
        parameters=parameters,
        torque_rms_nm=float(np.sqrt(np.mean(measured**2))),
        residual_rms_nm=float(np.sqrt(np.mean(residual**2))),
        friction_delay_ms=float(1e3 * found[1] * rate / (found[0] * acceleration)),
    )


def refuse_no_rotor(log: EncoderLog, found: Identification) -> None:
    """Refuse an identification that is of no rotor which this torque alone turns.

    Raises
    ------
    LogError
        An inertia that is not positive within its interval, or that explains less than half of the torque.
    """
    inertia = next(p for p in found.parameters if p.name == "inertia")
    unexplained = found.residual_rms_nm / found.torque_rms_nm if found.torque_rms_nm > 0.0 else 1.0
    remedy = (
        "the model has inertia, friction and an offset; gravity, a spring or hands on the wheel are not in it: "
        "give a stretch without them with --fit, or another torque with --torque"
    )
    where = f"{log.path}: {found.torque} from {found.from_s:g} to {found.to_s:g} s"
    if not (np.isfinite(inertia.low) and inertia.low > 0.0):
        raise LogError(
            f"{where}: an inertia of {inertia.value:.3g} kg m² (95 % {inertia.low:.3g} … {inertia.high:.3g}) "
            f"is none: {remedy}"
        )
    if unexplained > MOST_UNEXPLAINED:
        raise LogError(
            f"{where}: inertia and friction leave {found.residual_rms_nm:.3g} of {found.torque_rms_nm:.3g} N m RMS, "
            f"at most {100 * MOST_UNEXPLAINED:.0f} % may be left: {remedy}"
        )


def regressors(rate: Array, acceleration: Array) -> Array:
    """Columns of the equation in the order of `UNITS`, shape (n, 4)."""
    friction = np.tanh(rate / COULOMB_RATE_RAD_S)
    return np.column_stack((acceleration, rate, friction, np.ones_like(rate)))


def newey_west(x: Array, residual: Array) -> Array:
    """Covariance of least-squares estimates with correlated residuals, shape (k, k).

    Parameters
    ----------
    x : ndarray of float64, shape (n, k)
        Regressors.
    residual : ndarray of float64, shape (n,)
    """
    n, k = x.shape
    score = x * residual[:, None]
    # Andrews: lags from a first-order model of the scores; the slowest of them decides
    before, after = score[:-1], score[1:]
    rho = np.sum(before * after, axis=0) / np.maximum(np.sum(before**2, axis=0), 1e-300)
    rho = float(np.clip(np.max(np.abs(rho)), 0.0, 0.995))
    alpha = 4 * rho**2 / (1 - rho**2) ** 2
    lags = min(int(np.ceil(1.1447 * (alpha * n) ** (1 / 3))), n // 2)
    middle = score.T @ score
    for lag in range(1, lags + 1):
        part = score[lag:].T @ score[:-lag]
        middle += (1 - lag / (lags + 1)) * (part + part.T)
    inverse = np.linalg.inv(x.T @ x)
    return np.asarray(inverse @ middle @ inverse * n / (n - k))


def stretches(
    log: EncoderLog, fit: tuple[float, float] | None, judge: tuple[float, float] | None
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Stretch to identify on and stretch to judge on: as given, else halves of what is free of hands.

    Raises
    ------
    ConfigError
        They overlap, one is empty or begins after the log's end, or the mapping's stretch without hands
        is not in this log: a mapping fits every log with its header, its stretch one of them.
    """
    begin, end = log.mapping.free_s or (0.0, log.duration_s)
    if end > log.duration_s and (fit is None or judge is None):
        raise ConfigError([
            Mistake(
                f"mapping {log.mapping.name}", "free_s",
                f"ends after the log, which has {log.duration_s:.2f} s: it is another log's stretch without hands",
                "give this log's with --fit and --judge", (begin, end),
            )
        ])  # fmt: skip
    middle = 0.5 * (begin + end)
    fit = fit or (begin, middle)
    judge = judge or ((middle, end) if fit[1] <= middle else (fit[1], end))
    mistakes = [
        Mistake("command line", name, "an empty stretch", "give begin and end", stretch)
        for name, stretch in (("--fit", fit), ("--judge", judge))
        if not stretch[0] < stretch[1]
    ]
    mistakes += [
        Mistake(
            "command line", name, f"begins after the log's end at {log.duration_s:.2f} s",
            "give a stretch of the log", stretch,
        )
        for name, stretch in (("--fit", fit), ("--judge", judge))
        if stretch[0] >= log.duration_s or stretch[1] <= 0.0
    ]  # fmt: skip
    if fit[0] < judge[1] and judge[0] < fit[1]:
        words = f"overlaps --fit {fit[0]:g} {fit[1]:g}: a test needs data that were not used for the fit"
        mistakes.append(Mistake("command line", "--judge", words, value=judge))
    if mistakes:
        raise ConfigError(mistakes)
    return fit, judge


def torque_of(log: EncoderLog, name: str | None) -> str:
    """Name of the torque to use: the given one, else the first in N m.

    Raises
    ------
    LogError
        The log has no such torque.
    """
    known = [key for key in log.torque if key.endswith("_nm")]
    wanted = name if name is None or name.endswith("_nm") else f"{name}_nm"
    if not known or (wanted is not None and wanted not in known):
        there = f"it has {', '.join(known)}" if known else "it has none in N m"
        raise LogError(f"{log.path}: no torque {wanted or 'to identify with'}: {there}")
    return wanted or known[0]

"""Torque observed from the angle alone beside the measured one: error, delay, coherence.

The observer is what runs live: encoder filter, then force observer. What is seen through a filter has its lag, so
inertia and friction are fitted again to what the filter says of the stretch of the identification; a viscous
friction below the rotor's, even below zero, is that lag made up for. That holds for the frequencies of the
stretch, so a filter through which the inertia is off by more than a tenth is not taken. Of the others the bandwidth
that leaves least on the stretch of the identification is chosen; the stretch that it is judged on is not looked at
before.
"""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from estimators.encoder.filter import WRITE_PORTS, EncoderFilter
from estimators.two_stage.force_observer import ForceObserver
from estimators.two_stage.rotor_model import RotorModel
from estimators.two_stage.stages import ForceSettings
from io_bridge.logs.formats.table import LogError
from io_bridge.logs.reader import EncoderLog
from io_bridge.logs.schedule import schedule
from rigloop.identify.identify import (
    COULOMB_RATE_RAD_S,
    LEAST_SAMPLES,
    UNITS,
    Identification,
    regressors,
)

Array = NDArray[np.float64]

PERIOD_S = 1e-3
# times the sample rate; the slowest one settles within 0.6 s at 1 kHz
BANDWIDTHS = np.geomspace(0.02, 0.6, 24)
HIGHEST_HZ = 30.0
SEGMENT_S = 0.5
LONGEST_DELAY_MS = 40.0
INERTIA_OFF = 0.1  # of the identified one, through a filter that is still taken
BAND_SHARE = 0.01  # of the largest spectral density: below, there is no torque to be coherent with
MOTION = [WRITE_PORTS.index(p) for p in ("angle_rad", "rate_rad_s", "acceleration_rad_s2")]


class Judgement(msgspec.Struct, frozen=True):
    """Observed beside measured torque on one stretch.

    `delay_ms` is how much later the observed one is, `undelayed_percent` the error without that
    delay; `coherence` is the mean to 30 Hz weighted by the measured power, `coherent_to_hz` the
    highest frequency with coherence above 0.5 where there is torque.
    """

    from_s: float
    to_s: float
    rms_nm: float
    torque_rms_nm: float
    percent: float
    delay_ms: float
    undelayed_percent: float
    coherence: float
    coherent_to_hz: float


class Spectra(msgspec.Struct, frozen=True):
    """Spectral densities and coherence, arrays of shape (n_frequencies,)."""

    frequency_hz: Array
    measured: Array
    observed: Array
    coherence: Array


class Observation(msgspec.Struct, frozen=True):
    """The observed torque over the whole log, on ticks of 1 ms.

    `rotor` has what the observer takes for inertia, viscous and Coulomb friction and offset.
    """

    bandwidth_rad_s: float
    rotor: dict[str, float]
    t_s: Array
    measured_nm: Array
    observed_nm: Array


def observe(log: EncoderLog, found: Identification) -> Observation:
    """Run the observer over a log, with the setting that fits the stretch of the identification best.

    Parameters
    ----------
    log : EncoderLog
    found : Identification

    Raises
    ------
    LogError
        Through no filter the inertia is seen.
    """
    ticks = schedule(log, PERIOD_S)
    t_s: Array = PERIOD_S * np.arange(len(ticks.valid), dtype=np.float64)
    measured = log.torque[found.torque][ticks.sample]
    fit = (t_s >= found.from_s) & (t_s < found.to_s) & np.isfinite(measured)
    best: tuple[float, float, dict[str, float], Array] | None = None
    for bandwidth in BANDWIDTHS / log.sample_period_s:
        motion, ready = _motion(log, ticks.position_count, ticks.valid, float(bandwidth))
        here = fit & ready
        if here.sum() < LEAST_SAMPLES:
            continue
        x = regressors(motion[here, 1], motion[here, 2])
        seen, *_ = np.linalg.lstsq(x, measured[here], rcond=None)
        if abs(seen[0] - found.value("inertia")) > INERTIA_OFF * found.value("inertia"):
            continue
        error = float(np.mean((x @ seen - measured[here]) ** 2))
        if best is None or error < best[0]:
            best = error, float(bandwidth), dict(zip(UNITS, seen.tolist(), strict=True)), motion
    if best is None:
        raise LogError(
            f"{log.path}: through no encoder filter is the inertia of {found.value('inertia'):.3g} kg m² seen "
            f"within {100 * INERTIA_OFF:.0f} % from {found.from_s:g} to {found.to_s:g} s: the motion is too slow or "
            "the encoder too coarse to observe a torque; give a livelier stretch with --fit"
        )
    _, bandwidth, rotor, motion = best
    return Observation(bandwidth, rotor, t_s, measured, _torque(motion, rotor))


def judge(observation: Observation, from_s: float, to_s: float) -> Judgement:
    """Compare observed with measured torque on one stretch.

    Raises
    ------
    LogError
        Too few samples, or no torque, in the stretch.
    """
    o = observation
    inside = (o.t_s >= from_s) & (o.t_s < to_s) & np.isfinite(o.measured_nm)
    if inside.sum() < LEAST_SAMPLES or not np.any(o.measured_nm[inside]):
        raise LogError(
            f"{inside.sum()} ms with a torque from {from_s:g} to {to_s:g} s to judge on, at least {LEAST_SAMPLES} are "
            f"needed; the log has {o.t_s[-1]:.2f} s: give another stretch with --judge"
        )
    measured, observed = o.measured_nm[inside], o.observed_nm[inside]
    torque_rms, rms = _rms(measured), _rms(observed - measured)
    delay_ms, undelayed = _delay(o, inside)
    spectra = spectra_of(o, from_s, to_s)
    low = spectra.frequency_hz <= HIGHEST_HZ
    power, coherence = spectra.measured[low], spectra.coherence[low]
    there = (power > BAND_SHARE * power.max()) & (coherence > 0.5)
    return Judgement(
        from_s=from_s,
        to_s=to_s,
        rms_nm=rms,
        torque_rms_nm=torque_rms,
        percent=100 * rms / torque_rms,
        delay_ms=delay_ms,
        undelayed_percent=100 * undelayed / torque_rms,
        coherence=float(np.sum(power * coherence) / np.sum(power)),
        coherent_to_hz=float(np.max(spectra.frequency_hz[low][there], initial=0.0)),
    )


def spectra_of(observation: Observation, from_s: float, to_s: float) -> Spectra:
    """Welch's spectra and coherence of a stretch: Hann windows of 0.5 s, overlapping by half."""
    o = observation
    inside = (o.t_s >= from_s) & (o.t_s < to_s) & np.isfinite(o.measured_nm)
    a, b = o.measured_nm[inside], o.observed_nm[inside]
    n = min(round(SEGMENT_S / PERIOD_S), len(a) // 3)
    window = np.hanning(n + 1)[:-1]
    starts = range(0, len(a) - n + 1, n // 2)
    fa, fb = (
        np.array([np.fft.rfft(window * (x[i : i + n] - x[i : i + n].mean())) for i in starts])
        for x in (a, b)
    )
    scale = 2 * PERIOD_S / np.sum(window**2)
    paa, pbb = (scale * np.mean(np.abs(f) ** 2, axis=0) for f in (fa, fb))
    pab = scale * np.mean(fa.conj() * fb, axis=0)
    coherence = np.abs(pab) ** 2 / np.maximum(paa * pbb, 1e-300)
    frequency_hz = np.arange(n // 2 + 1) / (n * PERIOD_S)
    return Spectra(frequency_hz, paa, pbb, coherence)


def _motion(
    log: EncoderLog, count: Array, valid: Array, bandwidth: float
) -> tuple[Array, NDArray[np.bool_]]:
    angle = log.mapping.angle
    encoder = EncoderFilter(
        "encoder", {"position_count": "log"}, {}, counts_per_rev=angle.counts_per_rev,
        counter_span=angle.counter_span, zero_count=angle.zero_count, sign=angle.sign,
        period_s=PERIOD_S, sample_period_s=max(PERIOD_S, log.sample_period_s),
        bandwidth_rad_s=bandwidth,
    )  # fmt: skip
    found = encoder.run(count, valid, np.ones(len(count)))
    return np.ascontiguousarray(found[:, MOTION]), found[:, WRITE_PORTS.index("ready")] == 1.0


def _torque(motion: Array, seen: dict[str, float]) -> Array:
    rotor = RotorModel(
        seen["inertia"],
        viscous_nms=seen["viscous"],
        coulomb_nm=seen["coulomb"],
        coulomb_rate_rad_s=COULOMB_RATE_RAD_S,
        offset_nm=seen["offset"],
    )
    # no hands: the known torque is zero, form B gives the other one
    ports = {f"{part}_0": "encoder" for part in ("z", "zd", "zdd")}
    observer = ForceObserver(
        "torque",
        rotor,
        ForceSettings(form="B", known_noise=1e-3, balance_noise=1e-3, walk_noise=1e-6),
        reads=ports,
    )
    return np.ascontiguousarray(observer.run(motion, np.zeros((len(motion), 1)))[:, 1])


def _delay(o: Observation, inside: NDArray[np.bool_]) -> tuple[float, float]:
    # the shift of the observed torque that fits best, and the RMS error with it
    tried = np.arange(-LONGEST_DELAY_MS, LONGEST_DELAY_MS + 0.05, 0.1)
    at, measured = o.t_s[inside], o.measured_nm[inside]
    rms = [_rms(np.interp(at + 1e-3 * d, o.t_s, o.observed_nm) - measured) for d in tried]
    best = int(np.argmin(rms))
    return float(tried[best]), float(rms[best])


def _rms(x: Array) -> float:
    return float(np.sqrt(np.mean(x**2)))

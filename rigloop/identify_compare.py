"""Torque observed from the angle alone beside the measured one: error, delay, coherence.

The observer is what runs live: encoder filter, then force observer with the identified rotor. Its
bandwidth, and whether friction is used, are chosen on the stretch of the identification; the stretch
that it is judged on is not looked at before.
"""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from estimators.encoder_filter import WRITE_PORTS, EncoderFilter
from estimators.force_observer import ForceObserver
from estimators.rotor_model import RotorModel
from io_bridge.log_reader import EncoderLog
from io_bridge.log_schedule import schedule
from rigloop.identify import COULOMB_RATE_RAD_S, Identification

Array = NDArray[np.float64]

PERIOD_S = 1e-3
# times the sample rate; the slowest one settles within 0.6 s at 1 kHz
BANDWIDTHS = np.geomspace(0.02, 0.6, 24)
HIGHEST_HZ = 30.0
SEGMENT_S = 0.5
LONGEST_DELAY_MS = 40.0
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
    """The observed torque over the whole log, on ticks of 1 ms."""

    bandwidth_rad_s: float
    uses_friction: bool
    t_s: Array
    measured_nm: Array
    observed_nm: Array


def observe(log: EncoderLog, found: Identification) -> Observation:
    """Run the observer over a log, with the setting that fits the stretch of the identification best.

    Parameters
    ----------
    log : EncoderLog
    found : Identification
    """
    ticks = schedule(log, PERIOD_S)
    t_s: Array = PERIOD_S * np.arange(len(ticks.valid), dtype=np.float64)
    measured = log.torque[found.torque][ticks.sample]
    fit = (t_s >= found.from_s) & (t_s < found.to_s) & np.isfinite(measured)
    if not fit.any():
        raise ValueError(f"no sample from {found.from_s} to {found.to_s} s")
    best: tuple[float, Observation] | None = None
    for bandwidth in BANDWIDTHS / log.sample_period_s:
        motion, ready = _motion(log, ticks.position_count, ticks.valid, float(bandwidth))
        for uses_friction in (False, True):
            observed = _torque(motion, found, uses_friction)
            error = float(np.mean((observed - measured)[fit & ready] ** 2))
            if best is None or error < best[0]:
                best = error, Observation(
                    float(bandwidth), uses_friction, t_s, measured, observed
                )  # fmt: skip
    assert best is not None
    return best[1]


def judge(observation: Observation, from_s: float, to_s: float) -> Judgement:
    """Compare observed with measured torque on one stretch."""
    o = observation
    inside = (o.t_s >= from_s) & (o.t_s < to_s) & np.isfinite(o.measured_nm)
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


def _torque(motion: Array, found: Identification, uses_friction: bool) -> Array:
    friction = float(uses_friction)
    rotor = RotorModel(
        found.value("inertia"),
        viscous_nms=friction * found.value("viscous"),
        coulomb_nm=friction * found.value("coulomb"),
        coulomb_rate_rad_s=COULOMB_RATE_RAD_S,
        offset_nm=found.value("offset"),
    )
    # no hands: the known torque is zero, form B gives the other one
    ports = {f"{part}_0": "encoder" for part in ("z", "zd", "zdd")}
    observer = ForceObserver(
        "torque", ports, {}, model=rotor, form="B", known_noise=1e-3, balance_noise=1e-3,
        walk_noise=1e-6,
    )  # fmt: skip
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

"""`rigloop bench driveline`: an augmented UKF finds the torque of a load behind a double cardan shaft.

The published test: a direct on-line start at nominal torque, and from 2.5 s on a sweep of the load from 10 to 200 Hz,
through the first torsional resonance. The plant's shaft bends and twists and has mass (`flexible_plant.py`); that of
the filter has none, so that the estimate has a false component at twice the shaft's rate.

Source: `docs/models/observers.md`.
"""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from estimators.augmented.driveline_model import DrivelineModel
from estimators.augmented.settings import UnscentedSettings
from estimators.augmented.ukf import AugmentedUkf
from rigloop.bench.driveline.flexible_plant import move, stiffness_nm_rad

Array = NDArray[np.float64]

PERIOD_S = 5e-4
SUBSTEPS = 10  # of the plant in a cycle: its load changes within one
NOMINAL_NM = 25.0
SECONDS, SWEEP_FROM_S = 10.0, 2.5
FIRST_HZ, LAST_HZ = 10.0, 200.0
FIRST_SHARE, LAST_SHARE = 0.10, 0.025  # of the nominal torque
BANDS_HZ = (10.0, 30.0, 60.0, 85.0, 110.0, 135.0, 160.0, 180.0, 200.0)
# the published filter tracks the torque up to here
TRACKED_HZ = 160.0
MAX_GAIN_DB, MAX_PHASE_DEG = 2.0, 15.0
SUPPLY_V = np.array([400.0, 0.0])
RESONANCE_HZ = 97.0  # of the shaft between motor and load
STARTED_S = 1.0
# a motor of 4 kW and its load; damping as of the modes of the plant's shaft
MOTOR: dict[str, Any] = {
    "stator_ohm": 1.405, "rotor_ohm": 1.395, "stator_h": 0.178, "rotor_h": 0.178, "mutual_h": 0.1722,
    "pole_pairs": 2, "supply_hz": 50.0, "motor_kg_m2": 0.0131, "load_kg_m2": 0.02,
    "stiffness_nm_rad": stiffness_nm_rad(), "damping_nms": 0.02, "bend_rad": math.radians(20),
}  # fmt: skip
# states: currents, angle and rate of motor and load, torque of the load
START_STD = (1.0, 1.0, 1.0, 1.0, 0.01, 1.0, 0.01, 1.0, 5.0)
WALK_STD = (0.3, 0.3, 0.3, 0.3, 1e-5, 0.05, 1e-5, 0.05, 1.5)
# samples: two currents (20 dB), an encoder of 1024 pulses and its rate, two angular accelerations (84 dB)
SAMPLE_STD = (1.0, 1.0, 4.4e-4, 0.3, 0.05, 0.05)
FILTERS: dict[str, dict[str, float]] = {
    "its own parameters": {},
    "parameters 10 % off": {"rotor_ohm": 1.1, "damping_nms": 1.1, "stator_ohm": 0.9},
}


@dataclass(frozen=True)
class Motion:
    """The plant over time: load torque and phase of its sweep, shape (n,), and samples without noise, shape (n, 6)."""

    t_s: Array
    load_nm: Array
    phase_rad: Array
    samples: Array


class Band(msgspec.Struct, frozen=True):
    """Frequencies of the sweep, and the estimate's response to the load in them."""

    first_hz: float
    last_hz: float
    gain_db: float
    phase_deg: float
    rms_nm: float  # of the error


class Row(msgspec.Struct, frozen=True):
    """One filter: its bands, the mean of the runs; `good` as far as the published one tracks."""

    filter: str
    start_rms_nm: float  # of the error from 1 s on, before the sweep
    false_nm: float  # amplitude of the error at twice the shaft's rate, in the same time
    bands: list[Band]
    step_us: float  # CPU time of a step, the fastest run
    good: bool


def load(t_s: float) -> tuple[float, float]:
    """Torque of the load (N m) and phase of its sweep (rad; 0 before it)."""
    since = t_s - SWEEP_FROM_S
    if since < 0.0:
        return NOMINAL_NM, 0.0
    share = since / (SECONDS - SWEEP_FROM_S)
    phase = 2.0 * math.pi * since * (FIRST_HZ + 0.5 * share * (LAST_HZ - FIRST_HZ))
    amplitude = FIRST_SHARE + share * (LAST_SHARE - FIRST_SHARE)
    return NOMINAL_NM * (1.0 + amplitude * math.sin(phase)), phase


def frequency_hz(t_s: Array) -> Array:
    """Return the frequency of the sweep, 0 before it."""
    share = (t_s - SWEEP_FROM_S) / (SECONDS - SWEEP_FROM_S)
    return np.where(share < 0.0, 0.0, FIRST_HZ + share * (LAST_HZ - FIRST_HZ))


def simulate(seconds: float = SECONDS) -> Motion:
    """Move the plant from rest and read its sensors."""
    t_s = PERIOD_S * np.arange(round(seconds / PERIOD_S), dtype=np.float64)
    loads, phases = np.array([load(t) for t in t_s]).T
    samples = move(MOTOR, lambda t: load(t)[0], SUPPLY_V, PERIOD_S, len(t_s), SUBSTEPS)
    return Motion(t_s, loads, phases, samples)


def estimate(motion: Motion, changes: dict[str, float], seed: int) -> Array:
    """Return the load torque as the filter finds it from samples with noise, shape (n,).

    Parameters
    ----------
    motion : Motion
    changes : dict of str to float
        Factors of parameters that the filter has wrong.
    seed : int
        Of the noise.
    """
    parameters = MOTOR | {key: MOTOR[key] * share for key, share in changes.items()}
    block = AugmentedUkf(
        "driveline",
        DrivelineModel(**parameters),
        UnscentedSettings(
            period_s=PERIOD_S,
            start=[0.0] * 9,
            start_noise=START_STD,
            process_noise=WALK_STD,
            sample_noise=SAMPLE_STD,
        ),
    )
    noise = np.array(SAMPLE_STD) * np.random.default_rng(seed).normal(size=motion.samples.shape)
    found = block.run(np.tile(SUPPLY_V, (len(motion.t_s), 1)), motion.samples + noise)
    return found[:, 8]


def bands(motion: Motion, found: Array) -> list[Band]:
    """Response in each band of the sweep: estimate over load at the sweep's own phase."""
    at_hz, made = frequency_hz(motion.t_s), []
    wave = np.exp(-1j * motion.phase_rad)
    for first, last in itertools.pairwise(BANDS_HZ):
        inside = (at_hz >= first) & (at_hz < last)
        error = found[inside] - motion.load_nm[inside]
        share = np.sum((found[inside] - np.mean(found[inside])) * wave[inside]) / np.sum(
            (motion.load_nm[inside] - NOMINAL_NM) * wave[inside]
        )
        made.append(
            Band(
                first,
                last,
                20.0 * math.log10(max(abs(share), 1e-12)),
                math.degrees(np.angle(share)),
                float(np.sqrt(np.mean(error**2))),
            )
        )
    return made


def run_filters(runs: int) -> tuple[list[Row], Motion]:
    """Run each filter of `FILTERS` with the noise of seeds 0 ... runs - 1; returns the plant's motion, too.

    Parameters
    ----------
    runs : int
        At least 1.
    """
    motion, rows = simulate(), []
    steady = (motion.t_s > STARTED_S) & (motion.t_s < SWEEP_FROM_S)
    second = np.exp(-2j * motion.samples[steady, 2])
    for label, changes in FILTERS.items():
        step_us, errors, false, found = math.inf, [], [], []
        for seed in range(runs):
            begin = time.thread_time()
            torque = estimate(motion, changes, seed)
            step_us = min(step_us, 1e6 * (time.thread_time() - begin) / len(motion.t_s))
            error = (torque - motion.load_nm)[steady]
            errors.append(float(np.sqrt(np.mean(error**2))))
            false.append(float(abs(2.0 * np.mean((error - np.mean(error)) * second))))
            found.append(bands(motion, torque))
        mean = [_mean(list(same)) for same in zip(*found, strict=True)]
        good = all(tracks(band) for band in mean if band.last_hz <= TRACKED_HZ)
        start_rms, false_nm = float(np.mean(errors)), float(np.mean(false))
        rows.append(Row(label, start_rms, false_nm, mean, step_us, good))
    return rows, motion


def tracks(band: Band) -> bool:
    """Return whether the estimate follows the load in this band."""
    return abs(band.gain_db) <= MAX_GAIN_DB and abs(band.phase_deg) <= MAX_PHASE_DEG


def _mean(same: list[Band]) -> Band:
    gain, phase, rms = (
        float(np.mean([getattr(band, name) for band in same]))
        for name in ("gain_db", "phase_deg", "rms_nm")
    )
    return Band(same[0].first_hz, same[0].last_hz, gain, phase, rms)

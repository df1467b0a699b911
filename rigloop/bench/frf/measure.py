"""The frequency responses of a recorded run with sines: torque path and haptic impedance, beside those of the linear
loop."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from io_bridge.recording.record import open_record
from rig_configs.load import LoadedRig
from rigloop.bench.frf.rig import RAMP_S, Sweep
from rigloop.blocks.kinds.encoder_filter import EncoderFilterBlock
from rigloop.blocks.multisine import lines_of, ratio, through
from rigloop.compose.blocks import paths
from rigloop.haptic.loop import HapticLoop, impedance, torque_path, undelayed
from rigloop.haptic.path import HapticPath
from rigloop.run_folder.not_started import NotStartedError
from rt_core.plan import loop_signal

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

SETTLE_PERIODS = 1
FEWEST_PERIODS = 3
BAR_DB, BAR_DEG = 1.0, 5.0
COHERENT = 0.9
FAITHFUL_DB, FAITHFUL_DEG = 3.0, 45.0


class Response(msgspec.Struct, frozen=True):
    """A frequency response over its prediction, line by line."""

    gain_db: list[float]
    phase_deg: list[float]
    predicted_db: list[float]
    predicted_deg: list[float]
    coherence: list[float]
    worst_db: float
    """Largest difference from the prediction."""
    worst_deg: float
    n_incoherent: int
    """Lines below a coherence of 0.9, which are not compared."""


class Faithful(msgspec.Struct, frozen=True):
    """The difference between the torque that the hand feels and that of the model alone, without filter and delay."""

    gain_db: list[float]
    phase_deg: list[float]
    up_to_hz: float
    """Up to here within 3 dB and 45 degrees, at every line; 0: at none."""


@dataclass(frozen=True)
class Measured:
    """Both responses of a run."""

    frequency_hz: Array
    torque: Response
    flat_db: float
    haptic: Response
    faithful: Faithful
    delay_ms: float
    """Delay of the torque path, from the slope of its phase."""
    hand_over: tuple[float, float]
    """Cycles of the fast task from estimate to model, and from model to guard, on average."""
    n_periods: int
    n_dropped: int


def measure(
    run: Path, loaded: LoadedRig, path: HapticPath, sweep: Sweep, loop: HapticLoop, block: str
) -> Measured:
    """Return the responses of a run's record.

    Raises
    ------
    NotStartedError
        The run was too short for them.
    """
    rig = loaded.rig
    fast = open_record(run / f"{path.fast}.npy")
    slow = fast if path.slow == path.fast else open_record(run / f"{path.slow}.npy")
    bus = paths(path.bus, rig.blocks[path.bus])[1]
    encoder = rig.blocks[path.encoder]
    assert isinstance(encoder, EncoderFilterBlock)
    writes = paths(path.encoder, encoder)[1]
    elapsed = fast[f"{block}/elapsed_s"]
    if not np.any(elapsed > 0.0):
        raise NotStartedError(
            f"{run}: the run ended before any sine was put in: `rigloop report {run}` says why"
        )
    began = elapsed >= RAMP_S + SETTLE_PERIODS / sweep.base_hz
    began[: np.argmax(elapsed > 0.0)] = False
    rows = np.flatnonzero(began)
    period_s = 1.0 / sweep.base_hz
    if len(rows) < FEWEST_PERIODS * period_s / path.fast_s * 0.5:
        raise NotStartedError(
            f"{run}: the sines ran for {elapsed.max():.1f} s only, {FEWEST_PERIODS} periods of {period_s:g} s after "
            f"{RAMP_S + SETTLE_PERIODS * period_s:g} s are needed: see why the guard tripped, or give more --periods"
        )
    gate = rig.blocks[path.guard]
    request = rig.blocks[block].reads["request_nm"]
    factor = loop.factor / float(encoder.sign)  # of the guard: its sign and gain
    signals = {
        "driver": fast[f"{block}/excitation_nm"],
        "model": factor * fast[request],
        "angle": encoder.sign
        * (fast[writes["unwrapped_count"]] - encoder.zero_count)
        * (2 * np.pi / encoder.counts_per_rev),
        "command": fast[paths(path.guard, gate)[1]["torque_nm"]],
        "shaft": fast[bus[f"{path.drive}/torque_actual_nm"]],
    }
    taken = {name: np.asarray(column[rows], float) for name, column in signals.items()}
    lines = lines_of(elapsed[rows], taken, sweep.base_hz, sweep.harmonics)
    whole, dropped = _whole_periods(elapsed[rows], sweep, path.fast_s)
    lines = type(lines)(lines.frequency_hz, {k: v[whole] for k, v in lines.amplitude.items()})
    hz = lines.frequency_hz
    ages = hand_over(fast, slow, path)

    command, coherent_command = ratio(lines, "shaft", "command")
    model, coherent_model = through(lines, "model", "angle", "driver")
    predicted = torque_path(loop, hz)
    felt = impedance(loop, hz, age_in=ages[0], age_out=ages[1])
    ideal = undelayed(loop, hz)
    # the angle's own sign is in loop.factor; that of the record is the wheel's
    total = model * command
    # what goes out is late by the frames that carry it; the torque at the shaft is read with the frame after
    late = np.unwrap(np.angle(command)) / (-2 * np.pi * hz)
    return Measured(
        hz,
        _response(command, predicted, coherent_command),
        float(np.max(np.abs(20 * np.log10(np.abs(command))))),
        _response(
            total,
            felt * predicted * float(encoder.sign),
            np.minimum(coherent_model, coherent_command),
        ),
        _faithful(hz, total, ideal * float(encoder.sign)),
        float(1e3 * np.median(late)),
        ages,
        int(np.count_nonzero(whole)),
        dropped,
    )


def hand_over(fast: np.ndarray, slow: np.ndarray, path: HapticPath) -> tuple[float, float]:
    """Return the age of the estimate that a step of the model takes, and the time from there to the guard; cycles of
    the fast task, on average over a record."""
    if path.fast == path.slow:
        return float(path.age_in), float(path.age_out)
    period = path.fast_s * 1e9
    number = {
        int(c): int(t)
        for c, t in zip(fast[loop_signal(path.fast, "cycle")], fast["t_ns"], strict=True)
    }
    seen = slow[loop_signal(path.fast, "cycle")]
    ages_in = [
        (t - number[int(c)]) / period
        for t, c in zip(slow["t_ns"], seen, strict=True)
        if int(c) in number
    ]
    taken = fast[loop_signal(path.slow, "cycle")]
    first = np.flatnonzero(np.diff(taken, prepend=taken[:1]) > 0)
    tick = {
        int(c): int(t)
        for c, t in zip(slow[loop_signal(path.slow, "cycle")], slow["t_ns"], strict=True)
    }
    ages_out = [
        (int(fast["t_ns"][row]) - tick[int(taken[row])]) / period
        for row in first
        if int(taken[row]) in tick
    ]
    return (
        float(np.mean(ages_in)) if ages_in else float(path.age_in),
        float(np.mean(ages_out)) if ages_out else float(path.age_out),
    )


def _whole_periods(elapsed: Array, sweep: Sweep, fast_s: float) -> tuple[NDArray[np.bool_], int]:
    """Periods in which no cycle was lost; all of them where fewer than three are."""
    period_s = 1.0 / sweep.base_hz
    n = int(round((elapsed[-1] - elapsed[0]) / period_s, 6))
    edges = elapsed[0] + period_s * np.arange(n + 1) - 1e-9
    counts = np.diff(np.searchsorted(elapsed, edges))
    whole = counts >= round(period_s / fast_s)
    if np.count_nonzero(whole) < FEWEST_PERIODS:
        return np.ones(n, bool), 0
    return whole, int(n - np.count_nonzero(whole))


def _response(found: Complex, predicted: Complex, coherence: Array) -> Response:
    good = coherence >= COHERENT
    off = found / predicted
    db, deg = 20 * np.log10(np.abs(off)), np.degrees(np.angle(off))
    return Response(
        (20 * np.log10(np.abs(found))).tolist(),
        np.degrees(np.angle(found)).tolist(),
        (20 * np.log10(np.abs(predicted))).tolist(),
        np.degrees(np.angle(predicted)).tolist(),
        coherence.tolist(),
        float(np.max(np.abs(db[good]), initial=0.0)),
        float(np.max(np.abs(deg[good]), initial=0.0)),
        int(np.count_nonzero(~good)),
    )


def _faithful(hz: Array, total: Complex, ideal: Complex) -> Faithful:
    off = total / ideal
    db, deg = 20 * np.log10(np.abs(off)), np.degrees(np.angle(off))
    good = (np.abs(db) <= FAITHFUL_DB) & (np.abs(deg) <= FAITHFUL_DEG)
    first_bad = int(np.argmin(good)) if not good.all() else len(hz)
    return Faithful(db.tolist(), deg.tolist(), float(hz[first_bad - 1]) if first_bad else 0.0)

"""All faults of an encoder's signal, in the order in which one would hide another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from io_bridge.logs.faults.clock import MISSING, Clock
from io_bridge.logs.faults.coarse import find_coarse
from io_bridge.logs.faults.finding import Array, Found, runs
from io_bridge.logs.faults.jumps import find_shifts, find_spikes, find_wraps
from io_bridge.logs.faults.signal import Signal
from io_bridge.logs.faults.standing import find_blank, find_stuck, mask_of
from io_bridge.logs.faults.steps import find_grid, find_quantum, measure_steps

LARGEST_COUNT = 2.0**53
LEAST_SAMPLES = 10
MAX_ACCELERATION_RAD_S2 = 1000.0  # more than a hand or a drive gives a steering wheel
MOST_TORN_RAD = 0.01
LEAST_OF_RANGE = 0.005


def find_faults(value: Array, clock: Clock, span: float, turn: float | None = None) -> list[Found]:
    """Find the faults of the samples of an encoder; those of its clock are in `clock`.

    Parameters
    ----------
    value : ndarray of float64, shape (n,)
        As logged, in its own unit; NaN where a cell is missing.
    clock : Clock
        Of the same samples.
    span : float
        What the counter repeats after, in the same unit; 0: never.
    turn : float, optional
        A turn in that unit, if it is known.

    Returns
    -------
    list of Found
        By samples, in order.
    """
    wild = np.isfinite(value) & (np.abs(value) >= LARGEST_COUNT) | np.isinf(value)
    found = [
        Found("impossible value", b, e - 1, "beyond every counter") for b, e in runs(wild)
    ]  # fmt: skip
    good = clock.keep & np.isfinite(value) & ~wild
    if good.sum() < LEAST_SAMPLES:
        return found
    quantum = find_quantum(value[good])
    least_jump = _least_jump(value[good], clock.period_s, turn)
    is_count = bool(np.all(value[good] == np.rint(value[good])))
    at = np.flatnonzero(good)
    coarse = find_coarse(value[at], find_grid(value[at]) or quantum)
    found += [_at(one, at) for one in coarse]
    grid = np.full(len(value), quantum)
    for one in coarse:
        grid[at[one.first] : at[one.last] + 1] = max(one.size, quantum)
    at = np.flatnonzero(good)
    signal = signal_of(value, clock, at, span, grid, is_count)
    steps = measure_steps(signal.value, signal.periods, signal.grid)
    for search in (find_blank, find_spikes, find_stuck, find_shifts):
        told = (
            search(signal, steps, least_jump)
            if search in (find_spikes, find_shifts)
            else search(signal, steps)
        )
        found += [_at(one, at) for one in told]
        if told and search is not find_shifts:
            good[at[mask_of(told, len(at))]] = False
            at = np.flatnonzero(good)
            if len(at) < LEAST_SAMPLES:
                break
            lost = [one.last for one in found if one.kind == "loss of power"]
            signal = signal_of(value, clock, at, span, grid, is_count)
            elsewhere = tuple(int(k) for k in np.searchsorted(at, lost) if k < len(at))
            signal = replace(signal, elsewhere=elsewhere)
            steps = measure_steps(signal.value, signal.periods, signal.grid)
    wraps = find_wraps(signal)
    return sorted([*found, *(_at(one, at) for one in wraps)], key=lambda one: one.first)


def signal_of(
    value: Array, clock: Clock, at: np.ndarray, span: float, grid: Array, is_count: bool
) -> Signal:
    """Return the signal of some samples, unwrapped, with the length of its intervals in periods."""
    raw = value[at]
    step = np.diff(raw)
    if span:
        step = step - span * np.floor(step / span + 0.5)
    unwrapped = raw[0] + np.r_[0.0, np.cumsum(step)]
    periods = np.diff(clock.t_s[at]) / clock.period_s
    missing = np.diff(at) - 1
    # rows of one time were read one after the other: the newest of them is later than its stamp
    untold = np.where(missing > 0, np.maximum(missing + 1.0 - periods, 0.0), 0.0)
    periods[1:] -= untold[:-1]
    # a polled or bunched stamp says little of the time at which the encoder was read
    periods = np.maximum(
        np.where(periods > MISSING + clock.jitters * 2.0, periods, 1.0), missing + 1.0
    )
    return Signal(raw, unwrapped, periods, float(np.min(grid)), grid[at], span, is_count)


def _least_jump(value: Array, period_s: float, turn: float | None) -> float:
    # a jump that a wheel may have made in one period is none: some wheels are torn at
    if turn is None:
        low, high = np.percentile(value, [1.0, 99.0])
        return LEAST_OF_RANGE * float(high - low)
    torn_rad = min(4.0 * MAX_ACCELERATION_RAD_S2 * period_s**2, MOST_TORN_RAD)
    return torn_rad * turn / (2.0 * np.pi)


def _at(one: Found, at: np.ndarray) -> Found:
    return Found(one.kind, int(at[one.first]), int(at[one.last]), one.words, one.size)

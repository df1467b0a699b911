"""Turns of a motion that a limit cuts off, told from a wheel that comes to rest.

A motion that is cut off reaches the limit with speed: its distance from it grows evenly from the first sample on. A
wheel that turns, or that a hand brings to rest, slows down before: that distance grows with the square of time.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from io_bridge.logs.faults.finding import Array, Found, Rows
from io_bridge.logs.faults.signal import Signal, stops_dead
from io_bridge.logs.faults.steps import Steps

LEAST_CLIPPED = 4
LEAST_KNOWN = 8  # at a limit that another stretch showed
BEYOND_QUANTA = 4.0  # that the motion would have gone beyond the limit
LEAST_BESIDE, MOST_BESIDE = 4, 40  # samples that say with which speed the limit was reached
CLEAR_QUANTA = 12.0  # gone in them: more of them are not needed
EVEN = 0.4  # of the mean speed beside the limit: what there is at least right at it
NOISE_OVER = 16  # samples before
CLEAR_NOISE, BEYOND_NOISE = 6.0, 3.0  # times the noise, as well


def find_clipped(signal: Signal, steps: Steps, stretches: Sequence[tuple[int, int]]) -> list[Found]:
    """Find the stretches in which a motion is cut off.

    Parameters
    ----------
    signal : Signal
    steps : Steps
        Of the same samples.
    stretches : sequence of pair of int
        Begin and end of each stretch of one value without a jump beside it.
    """
    jumps = [*(np.flatnonzero(steps.impossible) + 1), *signal.elsewhere]
    parts = np.unique([0, *jumps, len(signal.raw)])
    extremes = [
        (float(np.min(signal.value[a:b])), float(np.max(signal.value[a:b])))
        for a, b in pairwise(parts)
    ]
    found: list[tuple[int, int]] = []
    others: list[tuple[int, int]] = []
    for begin, end in stretches:
        low, high = extremes[_part_of(begin, parts)]
        at, near = float(signal.value[begin]), 0.5 * float(signal.grid[begin])
        # no value lies beyond a limit, wherever between two jumps of the count
        is_top, is_bottom = at > high - near, at < low + near
        if is_top or is_bottom:
            cut_off = _is_cut_off(signal, begin, end, 1.0 if is_top else -1.0)
            (found if cut_off else others).append((begin, end))
    # at a limit that is known, a motion may come to it slowly
    known = {(float(signal.raw[begin]), _part_of(begin, parts)) for begin, _ in found}
    found += [
        (begin, end)
        for begin, end in others
        if (float(signal.raw[begin]), _part_of(begin, parts)) in known
        and end - begin >= LEAST_KNOWN
    ]
    return [
        Found("saturation", begin, end - 1, f"{end - begin} samples at {signal.raw[begin]:.10g}")
        for begin, end in found
    ]


def _part_of(at: int, parts: Rows) -> int:
    return int(np.searchsorted(parts, at, side="right")) - 1


def _is_cut_off(signal: Signal, begin: int, end: int, sign: float) -> bool:
    n, length = len(signal.raw), end - begin
    if begin < LEAST_BESIDE or length < LEAST_CLIPPED:
        return False
    at, grid = float(signal.value[begin]), float(signal.grid[begin])
    before = signal.value[max(0, begin - NOISE_OVER) : begin]
    noise = float(np.median(np.abs(np.diff(before, 2)))) if len(before) == NOISE_OVER else 0.0
    clear = CLEAR_QUANTA * grid + CLEAR_NOISE * noise
    most = min(MOST_BESIDE, max(LEAST_BESIDE, length // 2))
    into = _speed_at(sign * (at - signal.value[max(0, begin - most) : begin][::-1]), clear)
    if end > n - LEAST_BESIDE:
        out = into if stops_dead(signal, begin, -1) else 0.0
    else:
        out = _speed_at(sign * (at - signal.value[end : end + most]), clear)
    # a parabola with these speeds at its ends would go so much further
    return min(into, out) * length / 4.0 >= BEYOND_QUANTA * grid + BEYOND_NOISE * noise


def _speed_at(distance: Array, clear: float) -> float:
    # a sample, right at the limit, by the distances from it of the samples beside; 0 for a motion that slowed down
    if len(distance) < LEAST_BESIDE:
        return 0.0
    gone = np.flatnonzero(distance[LEAST_BESIDE - 1 :] >= clear)
    n = LEAST_BESIDE + int(gone[0]) if len(gone) else len(distance)
    t = np.arange(1.0, n + 1.0)
    start, rate, bend = np.linalg.lstsq(np.vander(t, 3, increasing=True), distance[:n])[0]
    # of an even acceleration: where the distance is zero, within the interval before the first of them
    speed = float(np.sqrt(max(0.0, rate * rate - 4.0 * bend * start)))
    mean = float(distance[n - 1] - distance[0]) / (n - 1)
    return speed if speed >= EVEN * mean else 0.0

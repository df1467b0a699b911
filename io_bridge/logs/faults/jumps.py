"""Jumps of a count: a spike returns, an index pulse or a reset does not."""

from __future__ import annotations

import numpy as np

from io_bridge.logs.faults.bursts import find_bursts
from io_bridge.logs.faults.finding import Found
from io_bridge.logs.faults.signal import Signal
from io_bridge.logs.faults.steps import Steps

LONGEST_SPIKE = 12  # samples
RETURNS = 0.3  # of the jump: what is left when a spike is over
AT_ZERO_QUANTA = 3.0  # or one step of the motion around it, within which a reset count is at zero
SPIKE_OF_JUMP = 0.25  # of what a jump for good has to have
LEAST_RESET = 8.0  # quanta that a reset takes away


def find_spikes(signal: Signal, steps: Steps, least: float = 0.0) -> list[Found]:
    """Find the samples that leave the motion and come back."""
    hits = np.flatnonzero(steps.impossible).tolist()
    # the jump as it is beyond the motion
    beyond = steps.size - steps.expected
    found: list[Found] = []
    k = 0
    while k < len(hits) - 1:
        i = hits[k]
        best = None
        for m in range(k + 1, min(k + 1 + LONGEST_SPIKE, len(hits))):
            j = hits[m]
            if j - i > LONGEST_SPIKE:
                break
            left = abs(float(np.sum(beyond[i : j + 1])))
            size = float(np.max(np.abs(np.cumsum(beyond[i:j]))))
            if size < SPIKE_OF_JUMP * least:
                continue
            if (
                left <= RETURNS * size + 0.5 * min(steps.limit[i], steps.limit[j])
                and size > steps.limit[i]
            ):
                best = m
                break
        if best is None:
            k += 1
            continue
        j = hits[best]
        words = f"{beyond[i]:+.6g} beside the motion, and back"
        found.append(Found("spike", i + 1, j, words, float(beyond[i])))
        k = best + 1
    known = np.zeros(len(signal.value), dtype=bool)
    for one in found:
        known[one.first : one.last + 1] = True
    bursts = find_bursts(signal, steps, known, SPIKE_OF_JUMP * least)
    if bursts:
        alone = [
            one for one in found if all(one.last < b.first or one.first > b.last for b in bursts)
        ]
        found = sorted([*alone, *bursts], key=lambda one: one.first)
    return found


def find_shifts(signal: Signal, steps: Steps, least: float = 0.0) -> list[Found]:
    """Find the steps after which the count jumps and continues from another value: resets to zero, index jumps.

    A motion may look like one that is smaller than `least`.
    """
    found = []
    for i in np.flatnonzero(steps.impossible).tolist():
        size = float(steps.size[i] - steps.expected[i])
        if steps.excess[i] < least + LEAST_RESET * float(signal.grid[i]):
            continue
        landed = float(signal.raw[i + 1])
        near = max(abs(float(steps.expected[i])), AT_ZERO_QUANTA * float(signal.grid[i]))
        before = abs(float(signal.raw[i]))
        if abs(landed) <= near and before > max(
            LEAST_RESET * float(signal.grid[i]), 2.0 * abs(landed)
        ):
            words = f"from {signal.raw[i]:.10g} to {landed:.10g}"
            found.append(Found("reset to zero", i + 1, i + 1, words, size))
        else:
            found.append(Found("index jump", i + 1, i + 1, f"by {size:+.6g}", size))
    return found


def find_wraps(signal: Signal) -> list[Found]:
    """Find where a counter with a span ran over."""
    if not signal.span:
        return []
    over = np.flatnonzero(np.abs(np.diff(signal.raw)) > signal.span / 2.0)
    return [
        Found("counter wrap", int(i) + 1, int(i) + 1, f"it repeats after {signal.span:.10g}")
        for i in over
    ]

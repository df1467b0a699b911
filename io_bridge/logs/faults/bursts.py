"""Several wild samples in a row: one of them hides the others from a comparison with its neighbours."""

from __future__ import annotations

import numpy as np

from io_bridge.logs.faults.finding import Found, Mask, Rows
from io_bridge.logs.faults.signal import Signal
from io_bridge.logs.faults.steps import Steps

LONGEST_BURST = 12  # samples
AROUND = 24  # steps on each side, most of which are those of the motion
ALIKE = 0.25  # of a wild step: what calm ones differ at most
CALM = 4  # steps without a wild one, before and after
LOUD = 0.5  # of the limit of a step
TIMES_LOUD = 3.0  # times what the steps around differ from their middle
LEAST_SIZE = 2.0  # times the limit, and times what the change of speed explains
RETURNS = 0.5  # of the limit: what is left when a burst is over


def find_bursts(signal: Signal, steps: Steps, known: Mask, least: float) -> list[Found]:
    """Find the stretches of wild samples between two calm ones, after which the motion goes on.

    Parameters
    ----------
    signal : Signal
    steps : Steps
        Of the same samples.
    known : ndarray of bool, shape (n,)
        Samples that are spikes already; those within a burst are part of it.
    least : float
        Size of the smallest one.
    """
    found: list[Found] = []
    reached = 0
    explained = known[1:] | known[:-1]
    for hit in np.flatnonzero(steps.impossible | _leaves_calm(steps)).tolist():
        if hit < reached:
            continue
        loud = _loud_around(steps, hit)
        # a spike or two that are known explain all of them
        if loud is None or explained[loud].all():
            continue
        i, j = int(loud[0]), int(loud[-1])
        size = _size(signal, steps, i, j)
        if size > least:
            words = f"up to {size:.6g} beside the motion for {j - i} samples, and back"
            found.append(Found("spike", i + 1, j, words, size))
            reached = j + 1
    return found


def _leaves_calm(steps: Steps) -> Mask:
    # steps far from the four before, which are alike; wild steps after it would hide it from a look at both sides
    size = steps.size
    leaves = np.zeros(len(size), dtype=bool)
    if len(size) <= CALM:
        return leaves
    before = [size[k : len(size) - CALM + k] for k in range(CALM)]
    low, high = np.minimum.reduce(before), np.maximum.reduce(before)
    off = np.maximum(size[CALM:] - high, low - size[CALM:])
    leaves[CALM:] = (off > float(np.median(steps.limit))) & (high - low < ALIKE * off)
    return leaves


def _loud_around(steps: Steps, hit: int) -> Rows | None:
    # the wild steps around one; None if calm does not return soon
    first = max(0, hit - AROUND)
    near = steps.size[first : hit + AROUND + 1]
    off = np.abs(near - np.median(near))
    usual = float(np.percentile(off, 60.0))
    limit = float(np.median(steps.limit[first : hit + AROUND + 1]))
    loud = np.flatnonzero(off > max(LOUD * limit, TIMES_LOUD * usual)) + first
    here = int(np.searchsorted(loud, hit))
    if here >= len(loud) or loud[here] != hit:
        return None
    begin = end = here
    while begin > 0 and loud[begin] - loud[begin - 1] <= CALM:
        begin -= 1
    while end < len(loud) - 1 and loud[end + 1] - loud[end] <= CALM:
        end += 1
    i, j = int(loud[begin]), int(loud[end])
    is_inside = i - CALM >= 0 and j + CALM < len(steps.size)
    return loud[begin : end + 1] if 0 < j - i <= LONGEST_BURST and is_inside else None


def _size(signal: Signal, steps: Steps, i: int, j: int) -> float:
    # how far the samples between two steps leave the line over them; 0 if the motion does not go on after them
    before = float(np.mean(steps.size[i - CALM : i]))
    after = float(np.mean(steps.size[j + 1 : j + 1 + CALM]))
    n = j + 1 - i
    limit = float(np.median(steps.limit[max(0, i - AROUND) : j + AROUND]))
    bend = abs(after - before) * n
    gone = float(signal.value[j + 1] - signal.value[i])
    if abs(gone - 0.5 * (before + after) * n) > RETURNS * (limit + bend):
        return 0.0
    line = signal.value[i] + gone * np.arange(1, n) / n
    size = float(np.max(np.abs(signal.value[i + 1 : j + 1] - line)))
    return size if size > LEAST_SIZE * (limit + bend) else 0.0

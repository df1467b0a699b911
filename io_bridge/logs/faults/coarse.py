"""Stretches of a log whose values have lost digits or bits."""

from __future__ import annotations

import numpy as np

from io_bridge.logs.faults.finding import Array, Found, runs
from io_bridge.logs.faults.steps import find_quantum

LEAST_CHANGES = 12  # in a stretch, by which chance is ruled out
LEAST_SAMPLES = 16
LEAST_VALUES = 11
FEW_VALUES, MANY_CHANGES = 3, 24  # of a wheel that hardly moves
OFTEN = 2  # times that a step of one size is made
MOST_SHARE = 0.9  # of the log: beyond, that is its grid
COARSER = (4, 5, 8, 10, 16, 20, 32, 50, 64, 100, 128, 256, 512, 1000, 1024, 4096)
BRIDGED = 80  # samples
NEAR = 1e-3  # of a quantum


def _is_coarse(value: Array, grid: float, smallest: float) -> bool:
    # values that are all on a coarse grid, and not by chance
    step = np.rint(np.diff(value) / grid)
    changes = np.count_nonzero(step)
    sizes, often = np.unique(step, return_counts=True)
    # a wheel of constant speed may go by whole multiples, but not by several of them
    if changes < LEAST_CHANGES or np.count_nonzero(often >= OFTEN) < 2:
        return False
    if changes > 0.9 * len(step) and len(sizes) < 4 and changes < MANY_CHANGES:
        return False
    values = len(np.unique(value))
    # few values of counts that are printed as decimals fall on some grid by chance
    are_few = values >= FEW_VALUES and changes >= MANY_CHANGES and grid > 3.5 * smallest
    return bool(values >= LEAST_VALUES or are_few)


def find_coarse(value: Array, quantum: float) -> list[Found]:
    """Find the stretches of coarser values.

    Parameters
    ----------
    value : ndarray of float64, shape (n,)
        As logged, without its spikes.
    quantum : float
        Smallest step elsewhere.
    """
    if quantum <= 0.0 or len(value) < 4 * LEAST_SAMPLES:
        return []
    grids = [quantum * m for m in COARSER] + [10.0**-k for k in range(7)]
    best: dict[int, tuple[int, float]] = {}
    # counts that are printed as angles fall on some coarser decimals by themselves
    step = find_quantum(value)
    least = 3.5 if np.all(value == np.rint(value)) else 7.5
    for grid in sorted(g for g in grids if g > least * quantum):
        on = np.abs(value / grid - np.rint(value / grid)) * grid < NEAR * quantum
        if on.mean() > MOST_SHARE or on.mean() * len(value) < LEAST_SAMPLES:
            continue
        for begin, end in runs(on, LEAST_SAMPLES):
            if not _is_coarse(value[begin:end], grid, step):
                continue
            known = best.get(begin)
            if known is None or end >= known[0]:
                best[begin] = (end, grid)
    found: list[Found] = []
    for begin, (end, grid) in sorted(best.items()):
        last = found[-1] if found else None
        if last and begin <= last.last:
            continue
        # a fault of another kind within the stretch does not end it
        if last and begin - last.last <= BRIDGED and abs(last.size - grid) < NEAR * quantum:
            found.pop()
            begin = last.first
        words = f"{end - begin} samples in steps of {grid:.6g}, elsewhere {quantum:.6g}"
        found.append(Found("lost precision", begin, end - 1, words, grid))
    return found

"""Counts of a turn from an angle that a log has beside them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from io_bridge.logs.formats.table import Table
from io_bridge.logs.guess.names import ANGLE_UNITS, NOT_ANGLE, unit_in

Array = NDArray[np.float64]

TURN = {"deg": 360.0, "rad": 2.0 * np.pi, "mrad": 2000.0 * np.pi, "rev": 1.0}
GRIDS = (
    *(2**b for b in range(8, 25)), 1000, 2000, 2400, 2500, 3600, 4000, 5000, 7200, 8000, 10_000, 12_000, 14_400, 16_000,
    18_000, 20_000, 36_000, 40_000, 72_000, 80_000, 100_000, 144_000, 152_000, 200_000, 360_000, 3_600_000,
)  # fmt: skip
OVER = 16  # samples in which two columns are compared, where one of them is held or filtered
LONG, WAYS = 160, 25  # samples of a way by which a slope is known, and ways at least
ALIKE = 0.1  # of the longest way


def _likeness(one: Array, two: Array, over: int) -> float:
    # correlation of what two columns go in some steps; 0 where either rests
    n = len(one) // over * over
    if n < 50 * over:
        return 0.0
    one, two = one[:n].reshape(-1, over).sum(axis=1), two[:n].reshape(-1, over).sum(axis=1)
    return float(np.corrcoef(one, two)[0, 1]) if np.ptp(one) and np.ptp(two) else 0.0


def _slope(one: Array, two: Array) -> float:
    # of one way over the other, without the stretches in which either was damaged
    over = max(1, min(LONG, len(one) // WAYS))
    n = len(one) // over * over
    short_one, short_two = (way[:n].reshape(-1, over).sum(axis=1) for way in (one, two))
    moves = np.abs(short_two) >= np.median(np.abs(short_two))
    moves &= short_two != 0.0
    if not moves.any():
        return 0.0
    ratio = float(np.median(short_one[moves] / short_two[moves]))
    alike = np.abs(short_one - ratio * short_two) <= ALIKE * np.max(np.abs(short_one[moves]))
    # over long ways, so that the rounding of both is small
    way_one, way_two = np.cumsum(short_one[alike]), np.cumsum(short_two[alike])
    return float(np.polyfit(way_two, way_one, 1)[0]) if np.ptp(way_two) else ratio


def angle_beside(table: Table, name: str) -> tuple[float, int]:
    """Return counts a turn from a column of the same motion in an angle's unit, and its direction; 0 without one."""
    counts = table.numbers[name]
    for other, values in table.numbers.items():
        unit = unit_in(other, table.units.get(other, ""), ANGLE_UNITS)
        if other == name or unit not in TURN or NOT_ANGLE.search(other.lower()):
            continue
        if ("motor" in other.lower()) != ("motor" in name.lower()):
            continue  # at the two ends of a gear
        both = np.isfinite(counts) & np.isfinite(values)
        if both.sum() < 50:
            continue
        one, two = np.diff(counts[both]), np.diff(values[both])
        usual = np.abs(one) <= 5.0 * np.percentile(np.abs(one), 90.0) + 1.0
        # step by step, or over some where one of them is held or filtered
        if any(
            abs(_likeness(np.where(usual, one, 0.0), np.where(usual, two, 0.0), over)) > 0.9
            for over in (1, OVER)
        ):
            slope = _slope(np.where(usual, one, 0.0), np.where(usual, two, 0.0))
            exact = abs(slope) * TURN[unit]
            near = min(GRIDS, key=lambda n: abs(n - exact))
            return (float(near) if abs(near - exact) < 0.01 * near else round(exact)), (
                1 if slope > 0 else -1
            )
    return 0.0, 1

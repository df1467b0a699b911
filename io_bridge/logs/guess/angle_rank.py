"""The columns of a log that may be the angle, by their names and by how they move."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from io_bridge.logs.faults.steps import find_grid, find_quantum
from io_bridge.logs.formats.table import Table
from io_bridge.logs.guess.clock_column import is_clock
from io_bridge.logs.guess.names import (
    ANGLE,
    ANGLE_UNITS,
    NOT_ANGLE,
    NUMBERED,
    TIME,
    unit_in,
)

Array = NDArray[np.float64]

PLAIN = re.compile(r"(data|values?|signals?|samples?)$", re.IGNORECASE)  # a group has the name
LATER = 16  # samples
SMOOTHNESS = 2.0  # points
FINE_NOISE = 3.0  # counts, by which an encoder's third differences vary
FEW = 4000  # samples that are looked at in a row


def rank_angles(table: Table, time_column: str) -> list[tuple[float, str]]:
    """Return the columns that may be the angle, the best one first."""
    found = []
    # smoothness is for columns whose names say nothing: of two angles a filtered one is the smoother
    is_any_named = any(_named_as_angle(_spoken(name, table)) for name in table.numbers)
    for place, (name, values) in enumerate(table.numbers.items()):
        good = values[np.isfinite(values)]
        lower = _spoken(name, table)
        if name == time_column or len(good) < 10 or NUMBERED.match(lower):
            continue
        if TIME.search(lower) and is_clock(values):
            continue
        points = _named_as_angle(lower)
        stated = unit_in(name, table.units.get(name, ""), ANGLE_UNITS)
        score = float(points) + (2.0 if stated else 0.0)
        if NOT_ANGLE.search(lower):
            score -= 6.0
        if NOT_ANGLE.search(table.units.get(name, "").lower()):
            score -= 4.0
        step = np.diff(good)
        if not np.ptp(step):
            # it never moves, or counts rows
            score -= 5.0
        else:
            # an angle goes further in more time; noise does not
            score += 2.0 * float(np.clip(np.log10(_further(good, step) + 1e-9), 0.0, 1.0))
            score += 0.0 if is_any_named else SMOOTHNESS * _smooth(good, step)
            score += 0.5 * bool(np.all(good == np.rint(good))) + 0.2 * min(
                1.0, len(np.unique(good[:5000])) / 200.0
            )
        if not table.has_names or _of_matrix(name, table):
            score -= 0.2 * place
        if "motor" in lower:
            score -= 2.0  # behind a gear it turns more than the wheel
        # a column that is mostly empty belongs to another message
        score += 0.5 * len(good) / len(values)
        found.append((score, name))
    return sorted(found, reverse=True)


def _spoken(name: str, table: Table) -> str:
    return ((table.name.rpartition("/")[2] if PLAIN.match(name) else "") or name).lower()


def _of_matrix(name: str, table: Table) -> bool:
    # a column of a matrix, whose name says no more than its number
    stem, _, number = name.rpartition("_")
    return number.isdecimal() and f"{stem}_1" in table.numbers


def _further(good: Array, step: Array) -> float:
    # how much further the values go in some samples than in one; a few jumps do not count
    if len(good) <= 2 * LATER:
        return 0.0
    long = good[LATER:] - good[:-LATER]
    near = float(np.percentile(np.abs(step), 75.0))
    if near > 0.0:
        return float(np.percentile(np.abs(long), 75.0)) / near
    return float(np.std(long) / np.std(step))


def _smooth(good: Array, step: Array) -> float:
    # from 0 to 1: an encoder shows a motion down to its counts, a sensor of torque its noise of many digits
    good, step = good[:FEW], step[:FEW]
    quantum = find_grid(good) or find_quantum(good)
    rough = float(np.percentile(np.abs(np.diff(good, 3)), 75.0)) - FINE_NOISE * quantum
    speed = float(np.percentile(np.abs(step), 75.0)) + quantum
    return 1.0 / (1.0 + max(0.0, rough) / speed) if speed > 0.0 else 0.0


def _named_as_angle(name: str) -> float:
    # of a path its last word says what a column is, and those before it whose it is
    folder, _, last = name.rpartition("/")
    points = [p for p, pattern in ANGLE if pattern.search(last)]
    is_of_wheel = any(pattern.search(folder.replace("/", " ")) for _, pattern in ANGLE)
    return max(points, default=0) + (0.5 if folder and is_of_wheel else 0.0)

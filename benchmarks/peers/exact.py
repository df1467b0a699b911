"""Exact motions to measure errors against: files of tests/data/references, and the N four-bar as
the one-freedom equation that it is.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np

REFERENCES = Path(__file__).parents[2] / "tests" / "data" / "references"
GRAVITY = 9.81


def reference(name: str) -> dict[str, np.ndarray]:
    """Columns of a reference file."""
    with (REFERENCES / f"{name}.csv").open() as file:
        head, *rows = csv.reader(file)
    return dict(zip(head, np.array(rows, dtype=float).T, strict=True))


def chain_angle(n: int, seconds: float) -> np.ndarray:
    """Angle of the links of an N four-bar at every millisecond from 1 ms on.

    All links turn alike and couplers do not turn: I theta'' = -G cos(theta). Runge-Kutta at 0.1 ms;
    its error is some 1e-12 rad.
    """
    inertia, weight = (n + 1) / 3.0 + n, GRAVITY * ((n + 1) / 2.0 + n)

    def bent(angle: float) -> float:
        return -weight / inertia * math.cos(angle)

    h, angle, rate = 1e-4, math.pi / 2.0, -1.0
    found = np.empty(round(seconds * 1000))
    for k in range(len(found)):
        for _ in range(10):
            a1 = bent(angle)
            r2, a2 = rate + h / 2 * a1, bent(angle + h / 2 * rate)
            r3, a3 = rate + h / 2 * a2, bent(angle + h / 2 * r2)
            r4, a4 = rate + h * a3, bent(angle + h * r3)
            angle += h / 6 * (rate + 2 * r2 + 2 * r3 + r4)
            rate += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        found[k] = angle
    return found


def at_reference(angles: np.ndarray, times: np.ndarray, step_s: float) -> np.ndarray:
    """Values of steps 1, 2, ... at the reference's times after zero."""
    return angles[np.round(times[1:] / step_s).astype(int) - 1]


def largest_gap(found: np.ndarray, wanted: np.ndarray) -> float:
    """Largest difference of two angles, whole turns aside."""
    gap = (found - wanted + math.pi) % (2.0 * math.pi) - math.pi
    return float(np.max(np.abs(gap)))

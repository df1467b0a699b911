"""The growth with the mechanism: cost of a step, a build and a text."""

from __future__ import annotations

import ctypes
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from codegen.description.n_four_bar import n_four_bar
from codegen.options.options import KernelOptions
from peers import ours


@dataclass
class Size:
    """An N four-bar: microseconds of a step (median and least round), seconds of its build if it
    was not in the cache.
    """

    n: int
    coordinates: int
    slots: int
    text_kb: int
    build_s: float
    us: float = 0.0
    least_us: float = 0.0


def measured_sizes(
    sizes: tuple[int, ...], timer: ctypes.CDLL, folder: Path
) -> Callable[[int], list[Size]]:
    """Build every size; the function that is returned steps them, in interleaved rounds."""
    found, steppers = [], []
    for n in sizes:
        path = folder / f"n_four_bar_{n}.toml"
        path.write_text(n_four_bar(n))
        begin = time.perf_counter()
        stepper = ours.Stepper(path, KernelOptions(), timer)
        seconds = time.perf_counter() - begin
        text = sum(f.stat().st_size for f in stepper.path.parent.glob("kernel.*"))
        info = stepper.info
        found.append(
            Size(n, len(info["coordinates"]), info["operations"]["slots"], text // 1000, seconds)
        )
        steppers.append(stepper)

    def stepped(rounds: int) -> list[Size]:
        times: list[list[float]] = [[] for _ in found]
        for _ in range(rounds):
            for size, stepper, mine in zip(found, steppers, times, strict=True):
                steps = max(50, 20000 // size.n)
                mine.append(stepper.steps(np.zeros((steps, 1)), [])[0] / steps * 1e6)
        for size, mine in zip(found, times, strict=True):
            size.us, size.least_us = statistics.median(mine), min(mine)
        return found

    return stepped


def exponent(found: list[Size]) -> float:
    """Slope of log cost over log N, least squares."""
    n, us = np.log([s.n for s in found]), np.log([s.least_us for s in found])
    return float(np.polyfit(n, us, 1)[0])

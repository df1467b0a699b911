"""Motions of a wheel by hand and by motor, some of them from recorded logs."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

LOGS = Path(__file__).parents[3] / "tests" / "data" / "logs"
KINDS = (
    "car",
    "spring",
    "near centre",
    "sines",
    "turns",
    "noise",
    "stop and go",
    "sweep",
    "parking",
    "rest",
)


def motion(kind: str, rng: np.random.Generator, t: np.ndarray) -> np.ndarray:
    """Return the angle of a kind of motion at some times, rad."""
    duration = float(t[-1])
    match kind:
        case "car":
            return _recorded("comma2k19_segment40.csv", t, rng, gain=rng.uniform(2.0, 8.0))
        case "spring":
            return _recorded("phobos_limtoc_k10_free.csv", t, rng, gain=rng.uniform(0.5, 2.0))
        case "near centre":
            return _recorded("phobos_raw_counts_v6.csv", t, rng, gain=rng.uniform(1.0, 6.0))
        case "sines":
            total = np.zeros_like(t)
            for _ in range(4):
                w = 2 * np.pi * rng.uniform(0.1, 3.0)
                total += rng.uniform(0.1, 1.5) / w**0.5 * np.sin(w * t + rng.uniform(0, 6.3))
            return total
        case "turns":
            return rng.choice([-1, 1]) * rng.uniform(2.0, 15.0) * t + 0.3 * np.sin(
                rng.uniform(2, 6) * t
            )
        case "noise":
            return _smooth(rng, t, knots_s=0.25, size=0.6)
        case "stop and go":
            going = (np.sin(2 * np.pi * t / max(2.0, duration / 5) + rng.uniform(0, 6)) > 0).astype(
                float
            )
            width = max(3, round(0.08 / (t[1] - t[0])))
            kernel = np.hanning(width + 2)
            speed = np.convolve(going, kernel / kernel.sum(), mode="same") * rng.uniform(0.5, 3.0)
            return np.cumsum(speed) * (t[1] - t[0]) * rng.choice([-1, 1])
        case "sweep":
            f0, f1 = 0.2, rng.uniform(3.0, 8.0)
            return rng.uniform(0.2, 0.6) * np.sin(
                2 * np.pi * (f0 * t + 0.5 * (f1 - f0) / duration * t**2)
            )
        case "parking":
            return 6.0 * np.sin(2 * np.pi * 0.15 * t + rng.uniform(0, 6)) + _smooth(
                rng, t, 0.5, 0.1
            )
        case _:
            return np.where(t > 0.5 * duration, 0.4 * (1 - np.cos(3.0 * (t - 0.5 * duration))), 0.0)


@cache
def _read(name: str) -> tuple[np.ndarray, np.ndarray]:
    table = np.genfromtxt(LOGS / name, delimiter=",", names=True)
    names = table.dtype.names or ()
    t = table["t_s"]
    if "steering_angle_deg" in names:
        return t, np.radians(table["steering_angle_deg"])
    angle = table["steer_angle_rad"] if "steer_angle_rad" in names else table["steer_angle"]
    return t - t[0], angle


def _recorded(name: str, t: np.ndarray, rng: np.random.Generator, gain: float) -> np.ndarray:
    # its steps are smoothed away: another encoder looks at the same wheel
    at, angle = _read(name)
    # forward and back in it, without a kink at its ends
    phase = 2.0 * t / at[-1] + rng.uniform(0.0, 6.3)
    when = at[-1] * (0.5 + 0.49 * np.sin(phase))
    knots = np.linspace(0.0, at[-1], max(8, round(at[-1] / 0.04)))
    there = _cubic(knots, np.interp(knots, at, angle), when)
    return gain * there


def _smooth(rng: np.random.Generator, t: np.ndarray, knots_s: float, size: float) -> np.ndarray:
    knots = np.arange(-3, round(t[-1] / knots_s) + 5) * knots_s
    return _cubic(knots, size * rng.standard_normal(len(knots)), t)


def _cubic(x: np.ndarray, y: np.ndarray, at: np.ndarray) -> np.ndarray:
    from scipy.interpolate import make_interp_spline

    return make_interp_spline(x, y, k=3)(np.clip(at, x[0], x[-1]))

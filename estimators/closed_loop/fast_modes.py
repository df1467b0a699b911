"""Modes that the forward Euler step of a filter lets grow without bound: refused before the filter runs.

A mode with the pole s grows by |1 + s h| a step. A little of that is what samples take back; a mode of fewer than some
six steps a period is nothing but growth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

MOST_GROWTH = math.sqrt(2.0)  # a step; of a mode without damping 1 rad a step


def require_slow(
    at: Callable[[list[float]], Mapping[str, Any]],
    info: Mapping[str, Any],
    start: Sequence[float],
    step_s: float,
) -> None:
    """Refuse a filter whose own step cannot bear the fastest mode at its start.

    Parameters
    ----------
    at, info
        `at` and `info` of an observer model.
    start : sequence of float
        State at which the observer begins.
    step_s : float
        Of the filter.

    Raises
    ------
    ValueError
        With the mode's frequency, and the step and the transition that would do.
    """
    found = at(list(start))
    n_z = (len(info["state_names"]) - len(info["unknown"])) // 2
    slopes = np.asarray(found["zdd_x"], dtype=float)[:, : 2 * n_z]
    if found["status"] != 0 or not np.all(np.isfinite(slopes)):
        return  # the start itself is refused elsewhere
    rates = np.hstack([np.zeros((n_z, n_z)), np.eye(n_z)])
    poles = np.linalg.eigvals(np.vstack([rates, slopes]))
    growth = np.abs(1.0 + step_s * poles)
    worst = int(np.argmax(growth))
    if growth[worst] <= MOST_GROWTH:
        return
    fast = float(np.abs(poles[worst]))
    raise ValueError(
        f"observer of {info['name']}: its fastest motion, {fast / (2.0 * math.pi):.4g} Hz, grows by "
        f"{growth[worst]:.3g} in a forward Euler step of {step_s * 1e3:g} ms: take transition = 'discrete' or 'held' "
        f"with errorEKF, DEKF or UKF, fewer modes, or step_s = {0.1 / fast:.2g} or less"
    )

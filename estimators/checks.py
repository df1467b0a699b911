"""Checks that the settings of all observers share: each mistake is one line, `key = value: problem`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def not_positive(**values: float) -> list[str]:
    """Return a line for each value that is not a positive number."""
    return [
        f"{key} = {value}: must be a positive number"
        for key, value in values.items()
        if not (math.isfinite(value) and value > 0.0)
    ]


def gate_mistakes(gate_sigma: float, gate_patience: int) -> list[str]:
    """Return a line for each wrong setting of a gate."""
    mistakes = []
    if not (math.isfinite(gate_sigma) and gate_sigma >= 0.0):
        mistakes.append(f"gate_sigma = {gate_sigma}: must be a number >= 0")
    if gate_patience < 1:
        mistakes.append(f"gate_patience = {gate_patience}: must be at least 1")
    return mistakes


def one_each(key: str, value: float | Sequence[float], count: int, wrong: list[str]) -> Array:
    """Positive numbers, from one for all or one each; mistakes are added to `wrong`."""
    given = np.asarray(value, dtype=np.float64)
    if given.shape not in ((), (count,)) or not (np.isfinite(given) & (given > 0.0)).all():
        wrong.append(f"{key} = {value}: must be a positive number, or {count}")
        given = np.ones(())
    return np.array(np.broadcast_to(given, (count,)))


def listed(key: str, given: Sequence[float], count: int, wrong: list[str]) -> Array:
    """Positive numbers, `count` of them; mistakes are added to `wrong`."""
    values = np.array(given, dtype=float)
    if values.shape != (count,) or not np.all(np.isfinite(values) & (values > 0.0)):
        wrong.append(f"{key} = {list(given)}: {count} positive numbers needed")
        return np.ones(count)
    return values


def named(key: str, given: Mapping[str, float], names: Sequence[str], wrong: list[str]) -> Array:
    """Positive numbers in the order of their names; mistakes are added to `wrong`."""
    unknown = [name for name in given if name not in names]
    missing = [name for name in names if name not in given]
    if unknown or missing:
        wrong.append(f"{key}: give one number for each of {', '.join(names) or 'none'}")
        return np.ones(len(names))
    return listed(key, [given[name] for name in names], len(names), wrong)

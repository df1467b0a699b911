"""Limits and checks that the settings of all observers share."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from rt_core.settings import Wrong

Array = NDArray[np.float64]
Positive = Annotated[float, Field(gt=0.0)]
Sigma = Annotated[float, Field(ge=0.0)]
Cycles = Annotated[int, Field(ge=1)]


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


def named(key: str, given: Mapping[str, float], names: Sequence[str]) -> Iterator[Wrong]:
    """Find numbers that are missing, or are for nothing: there is one for each name."""
    if sorted(given) != sorted(names):
        yield Wrong(key, dict(given), f"give one number for each of {', '.join(names) or 'none'}")

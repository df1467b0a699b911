"""Limits and checks that the settings of all observers share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, SkipValidation

from rt_core.settings import Wrong

Array = NDArray[np.float64]
Positive = Annotated[float, Field(gt=0.0)]
Sigma = Annotated[float, Field(ge=0.0)]
Cycles = Annotated[int, Field(ge=1)]
T = TypeVar("T")
# checked by the observer, which knows how many there have to be
Given = Annotated[T, SkipValidation]
OneOrEach = Given[float | Sequence[float]]


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

"""Scores of a filter whose truth is known: NEES and NIS at the marks of one run."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Run = Callable[[np.random.Generator], tuple[Array, Array]]

CYCLES = 200
MARKS = tuple(range(10, CYCLES + 1, 10))
LOST = 1e6  # NEES of an error that is not a number, or beside a covariance that is not one


def nees_of(error: Array, covariance: Array) -> float:
    # the same with variances of one: a covariance whose entries span ten orders is no singular one
    scale = np.sqrt(np.diag(covariance))
    if not (np.all(np.isfinite(error)) and np.all(scale > 0.0)):
        return LOST
    part = error / scale
    try:
        found = float(part @ np.linalg.solve(covariance / np.outer(scale, scale), part))
    except np.linalg.LinAlgError:
        return LOST
    return found if 0.0 <= found < LOST else LOST


def marked(
    block: Any,
    states: int,
    truth: Array,
    advance: Callable[[int, int], Array],
    at: Sequence[int],
    nis_at: int | None = None,
) -> tuple[Array, Array]:
    # NEES and NIS at the marks of a block that takes arrays; after its states comes `nis`
    nees, nis = [], []
    for begin, end in itertools.pairwise((0, *MARKS)):
        out = advance(begin, end)[-1]
        nees.append(nees_of(out[list(at)] - truth[end - 1], block.covariance))
        nis.append(float(out[states if nis_at is None else nis_at]))
    return np.array(nees), np.array(nis)

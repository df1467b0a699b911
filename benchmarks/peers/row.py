"""One line of the table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass
class Row:
    """A program doing a piece of work.

    Attributes
    ----------
    work, who : str
        What is stepped, and by whom.
    run : callable
        `run(n)` takes n steps and returns the seconds they took.
    error : callable, optional
        `error()` is the largest error against the exact solution, over its whole duration.
    unit : str
        Of the error.
    singles : callable, optional
        `singles(n)` is the nanoseconds of each of n steps.
    steps : int
        Of one round.
    per_ms : float
        Steps that one millisecond of motion takes.
    slots, path_cycles : int
        Floating-point operations and critical path that the generator counts.
    bar_us : float, optional
        What must be reached.
    """

    work: str
    who: str
    run: Callable[[int], float]
    error: Callable[[], float] | None = None
    unit: str = "rad"
    singles: Callable[[int], np.ndarray] | None = None
    steps: int = 2000
    per_ms: float = 1.0
    slots: int = 0
    path_cycles: int = 0
    bar_us: float | None = None

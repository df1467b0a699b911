"""The time for which a task spins before its deadline, from the wake-up lateness measured on its core."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

MEASURE_S = 2.0
MARGIN = 1.2  # on the measured p99.9 of two seconds
LEAST_NS = 10_000  # below it the way into the sleep and back takes longer
MOST_SHARE = (
    0.85  # of the period, with the step: beyond 95 % the kernel takes real time away for a while
)
SLOWEST_NS = 1_000_000  # a longer sleep wakes no later, and more short ones fit into the time


@dataclass(frozen=True)
class Spin:
    """A choice and its grounds. Times in ns."""

    spin_ns: int
    p99_9_ns: int
    wakes: int
    bound: str = ""
    """The limit that the choice met: `least`, `share of the period`, or empty."""


def choose_spin(late_ns: ArrayLike, period_ns: int) -> Spin:
    """Choose the spin of a task.

    Parameters
    ----------
    late_ns : array_like of int, shape (n,)
        Of wakes without a spin on the task's core.
    period_ns : int

    Returns
    -------
    Spin
        The p99.9 and a fifth, in whole microseconds, within `LEAST_NS` and 85 % of the period. What the task's own
        step takes of those 85 % is known only once it runs: the loop then spins that much less (`_spare_spin`).
    """
    late = np.sort(np.asarray(late_ns, np.int64))
    p99_9 = int(late[min(len(late) - 1, math.ceil(0.999 * len(late)) - 1)])
    wanted = math.ceil(MARGIN * p99_9 / 1000) * 1000
    most = int(MOST_SHARE * period_ns)
    least = min(LEAST_NS, most)
    spin = min(max(wanted, least), most)
    bound = "share of the period" if wanted > most else "least" if wanted < least else ""
    return Spin(spin, p99_9, len(late), bound)

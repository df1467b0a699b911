from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from rt_core.plan import Plan
from rt_core.signals.layout import Layout

class Rehearsal:
    """The cycles of a plan one after the other, without threads and clock, each part timed.

    Building it binds the blocks of the plan, so they belong to it from then on.

    Real time
    ---------
    Not for the cycle; but its cycles run without the GIL, through the code of the live loop.
    """

    plan: Plan
    layout: Layout

    def __init__(self, plan: Plan) -> None: ...
    def run(self, n: int, given: Mapping[str, float]) -> dict[str, NDArray[np.int64]]:
        """Step all tasks for `n` periods of the fastest one.

        Parameters
        ----------
        n : int
        given : mapping of str to float
            Values of signals of the supervisor, and of inputs of tasks, in all of these cycles; the supervisor's
            others are 0.

        Returns
        -------
        took_ns : dict of str to ndarray of int64, shape (cycles, blocks + 1)
            Of each task: the time of every block in every cycle, and last the time around them.
        """

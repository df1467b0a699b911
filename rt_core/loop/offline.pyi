from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rt_core.plan import Plan
from rt_core.signals.layout import Layout

class Offline:
    """The tasks of a plan, stepped from arrays: for replay, and for tests of blocks.

    Building it binds the blocks of the plan, so they belong to it from then on. State carries over
    from one `run` to the next.

    Attributes
    ----------
    wall_s : float
        Time that the last `run` took in its cycles.

    Real time
    ---------
    Not for the cycle; but its cycles run without the GIL, through the code of the live loop.
    """

    plan: Plan
    layout: Layout
    wall_s: float

    def __init__(self, plan: Plan) -> None: ...
    def paths(self, task: str) -> tuple[str, ...]:
        """Signal path of every column of the images of `task`."""
    def run(
        self,
        fast: str,
        t_ns: ArrayLike,
        *,
        forced: Mapping[str, ArrayLike] | None = None,
        slow: str | None = None,
        slow_t_ns: ArrayLike = (),
        slow_after: ArrayLike = (),
        slow_visible: ArrayLike | None = None,
        slow_forced: Mapping[str, ArrayLike] | None = None,
        record: bool = True,
    ) -> dict[str, NDArray[np.float64]]:
        """Step `n` cycles of one task, and `m` of a slower one between them.

        Parameters
        ----------
        fast : str
            A task of the plan.
        t_ns : array_like of int, shape (n,)
            Nominal time of each of its cycles, rising.
        forced : mapping of path to array_like, shape (n,)
            Cells of the task's image, its mirrors included, that are set after the mirrors were
            refreshed and before the blocks are stepped: logged inputs.
        slow : str, optional
        slow_t_ns : array_like of int, shape (m,)
        slow_after : array_like of int, shape (m,)
            Fast cycles done when each slow cycle refreshes its mirrors: live, its mirror of
            `loop/<fast>/cycle`.
        slow_visible : array_like of int, shape (m,), optional
            Fast cycles done when each slow cycle is published: the first row of `fast` that mirrors
            this slow cycle or a later one. `slow_after` when not given.
        slow_forced : mapping of path to array_like, shape (m,)
        record : bool
            Keep the images of the fast task; those of the slow one are always kept.

        Returns
        -------
        images : dict of str to ndarray of float64, shape (n or m, n_cells)
            The image of each task at the end of each cycle. `late_ns`, `step_ns` and `bus_ns` are 0
            unless forced.

        Raises
        ------
        ValueError
            Every bad shape, unknown path and impossible order, one a line.
        """

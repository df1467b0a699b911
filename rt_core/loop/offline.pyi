from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rt_core.plan import Plan
from rt_core.signals.layout import Layout
from rt_core.steps import Steps

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
    @property
    def place(self) -> dict[str, Any]:
        """Between two runs, what the next one goes on from: numbers and arrays, and no address.

        It holds the words of each block's `BlockView` that its cycles have changed: all of the state of a block
        that keeps nothing elsewhere.

        Raises
        ------
        ValueError
            A block does not say how large its state is.
        """
    def put_back(self, place: Mapping[str, Any]) -> None:
        """Go on from a place of the same plan, in this process or another one, before any cycle is stepped.

        Raises
        ------
        ValueError
            It is of other tasks or blocks.
        """
    def run(
        self, task: str, t_ns: ArrayLike, *, forced: Mapping[str, ArrayLike] | None = None
    ) -> dict[str, NDArray[np.float64]]:
        """Step one task alone: `run_together` with one task."""
    def run_together(
        self, steps: Mapping[str, Steps], *, rows: Mapping[str, NDArray[np.float64]] | None = None
    ) -> dict[str, NDArray[np.float64]]:
        """Step tasks beside each other, as far as they go.

        A cycle is stepped once the images that it saw are there. One that saw what no cycle here makes waits, with
        all behind it, for a later call, which begins with it; its images are missing in the result.

        Parameters
        ----------
        steps : mapping of task to Steps
            At most 64. A task that is not among them shows what it showed last.
        rows : mapping of task to ndarray of float64, shape (n or more, 1 + n_cells), optional
            Rows of a record for each task: they get the bits of `t_ns`, and behind these the image. The images are
            views of them then, and nothing is copied.

        Returns
        -------
        images : dict of str to ndarray of float64, shape (n stepped, n_cells)
            The image of each task at the end of each cycle. `late_ns`, `step_ns` and `bus_ns` are 0 unless forced.

        Raises
        ------
        KeyError
            No such task.
        ValueError
            Every bad shape, unknown path and impossible order, one a line.
        """

from collections.abc import Iterable
from typing import Self

import numpy as np
from numpy.typing import NDArray

from rt_core.signals.table import SignalTable

class RingView:
    """The rows of a task's ring, for any number of programs that look on beside its one consumer.

    It begins with the oldest row that is still in the ring, so that what happened before it was made is there. It
    takes nothing out of the ring, and the loop does not notice it.

    Parameters
    ----------
    table : SignalTable
        Attached for reading is enough; it cannot be closed before the view is.
    task : str
    paths : iterable of str, optional
        Signals of the task's image that are copied, mirrors included; default: all.

    Attributes
    ----------
    dtype : dtype
        `t_ns` (int64, nominal time), then one float64 field per path.
    next_row : int
        Number of the first row that `take` has not seen; rows count from 0.

    Raises
    ------
    KeyError
        The rows have no such signal.
    TableError
        The producer has no ring.

    Real time
    ---------
    For the processes around the loop: a row of 200 signals takes about a microsecond.
    """

    table: SignalTable
    dtype: np.dtype[np.void]
    next_row: int

    def __init__(
        self, table: SignalTable, task: str, paths: Iterable[str] | None = None
    ) -> None: ...
    def take(self) -> tuple[NDArray[np.void], int]:
        """Copy the rows since the last time; return them, and how many were written over before they were seen.

        Raises
        ------
        TableError
            The table was cut short or written over, or the view is closed.
        """
    def close(self) -> None:
        """Let go of the table. Harmless when repeated."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...

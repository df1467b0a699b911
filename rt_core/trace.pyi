import numpy as np
from numpy.typing import ArrayLike, NDArray

TRACE_SIZE: int
CYCLES_BEFORE: int
CYCLES_AFTER: int
EVENTS_KEPT: int
STAGES_KEPT: int
RECORD: np.dtype
"""One cycle, 64 bytes: `cycle`, `deadline_ns` (since the loop's zero), `cause`, `elapsed`, `late_ns` (begin -
deadline), `slept_ns` (of that, asleep), `wall_ns` (begin to end), `cpu_ns`, `stage_ns` (of each block in order; the
last takes those beyond)."""

def read_events(words: ArrayLike) -> tuple[int, list[tuple[int, NDArray[np.void]]]]:
    """Read the events of a task.

    Parameters
    ----------
    words : array_like of int64, shape (TRACE_SIZE,)
        Of a table; its writer may still be writing, or have been killed.

    Returns
    -------
    opened : int
        Events in all, with those that were only counted.
    events : list of (int, ndarray of RECORD)
        The first EVENTS_KEPT: place of the late cycle, and the cycles around it, in order.
    """

import numpy as np
from numpy.typing import ArrayLike, NDArray

TRACE_SIZE: int
CYCLES_BEFORE: int
CYCLES_AFTER: int
EVENTS_KEPT: int
STAGES_KEPT: int
FIRST_KEPT: int
WORST_KEPT: int
NEWEST_KEPT: int
RECORD: np.dtype
"""One cycle, 96 bytes: `cycle`, `deadline_ns` (since the loop's zero), `cause`, `elapsed`, `late_ns` (begin -
deadline), `slept_ns` (of that, asleep), `wall_ns` (begin to end), `cpu_ns`, `faults` (page faults of the thread
since the last look, at a long cycle), `denormals` (bit i: block i met some), `stage_ns` and `stage_work` (time and
witness of each block in order; the last takes those beyond)."""

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
        In the order in which they came: place of the late cycle, and the cycles around it. Of each cause the first
        FIRST_KEPT, the WORST_KEPT that reached furthest beyond their deadlines, and of the others the NEWEST_KEPT.
    """

def trace_records(records: ArrayLike) -> NDArray[np.int64]:
    """Return the words of a trace into which these cycles were written, as the loop does.

    Parameters
    ----------
    records : array_like of RECORD
        Consecutive cycles; late are those with a cause.
    """

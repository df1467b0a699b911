import numpy as np
from numpy.typing import NDArray

def measure_wakes(
    period_ns: int, n: int, *, priority: int = 0, core: int | None = None
) -> NDArray[np.int64]:
    """Sleep to `n` deadlines in a thread of its own and return how late each wake was, ns.

    Parameters
    ----------
    period_ns : int
    n : int
    priority : int
        SCHED_FIFO priority; 0: an ordinary thread.
    core : int, optional

    Raises
    ------
    OSError
        There is no such thread: no right to the priority, or no such core.

    Real time
    ---------
    Before the loop. Waits for the thread without holding the GIL.
    """

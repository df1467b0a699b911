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

def measure_touches(
    seconds: float, *, pages: int = 512, pause_ns: int = 1_000_000, hole_ns: int = 50_000
) -> tuple[int, int, int]:
    """Touch memory again and again, as a cycle does, and count unreported delays.

    Parameters
    ----------
    seconds : float
    pages : int
        Touched in each round.
    pause_ns : int
        Sleep between two rounds.
    hole_ns : int
        Shortest hole that counts: wall time between two touches, minus the part that the thread's CPU clock shows.

    Returns
    -------
    touches, holes : int
    longest_ns : int
        Of the longest hole; 0 without one.
    """

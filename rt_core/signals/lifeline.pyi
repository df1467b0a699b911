from typing import Self

from rt_core.signals.table import SignalTable

class Lifeline:
    """A word in a signal table that the kernel marks when this process dies, before it takes the memory apart.

    The signal that the death of a parent sends comes last of all, after files and memory are given back, which takes
    some 30 ms on a busy machine. A thread that waits for the end holds the word as a robust futex; it has FIFO priority
    1 where that is allowed, so that it dies at once. A process that ends in order ends its lifeline before.

    Parameters
    ----------
    table : SignalTable
        Attached for writing; it cannot be closed meanwhile. One lifeline a table.

    Raises
    ------
    ValueError
        The table is attached for reading.
    OSError
        No thread, or a kernel without robust futexes.

    Real time
    ---------
    The thread only waits. Whoever looks reads one word.

    Source
    ------
    Linux, `Documentation/locking/robust-futex-ABI.rst`: a held word is the thread's number, and gets the bit
    FUTEX_OWNER_DIED when that thread dies.
    """

    def __init__(self, table: SignalTable) -> None: ...
    def end(self) -> None:
        """Say that this process ends in order; nothing if it said so before."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *exc: object) -> None: ...

def has_died(table: SignalTable) -> bool:
    """Return whether a process that held the lifeline of a table has died."""

from collections.abc import Sequence
from typing import NamedTuple, Self

from rt_core.plan import Plan
from rt_core.signals.table import SignalTable

class Stall(NamedTuple):
    """A report of the watchdog: a task that stood still.

    `cycle` is the last one that it began, `for_ns` the time since its deadline when it was seen, `sent` how many
    safe outputs the watchdog has sent itself. For `kept_ns` of `for_ns` the machine had kept the watchdog itself from
    its looks.
    """

    task: str
    cycle: int
    for_ns: int
    sent: int
    kept_ns: int

class Loop:
    """The tasks of a plan as threads: each with its own period, from one common zero.

    A cycle: wait for the deadline, refresh the mirrors, step all blocks, publish the image, push it
    to the ring, count. After an overrun whole periods are skipped and counted and the phase is
    kept; the blocks see the nominal time, `t_ns` = number of the period x period.

    As a context manager it starts, and at the end (also by an exception) stops: see `stop`.

    Parameters
    ----------
    plan : Plan
        Its blocks belong to the loop from then on; they are bound here.
    table : SignalTable
        Created from the same plan, or attached with writable=True. Cannot be closed before the loop
        ended.
    fifo : bool
        Give the threads their FIFO priorities (`Rights.fifo`); refused by the system is then an
        error.
    safe : str or sequence of str
        Paths of the signals that are 1 when an output is at rest (each guard's `safe`).
    stop_timeout_s : float
        Longest time that `stop` waits for it.
    start_timeout_s : float
        Longest time that `start` waits for each thread.
    explains : bool
        Attribute late cycles and overruns to causes, and keep the cycles around them.

    Attributes
    ----------
    running : bool
        Whether a thread still steps.
    stop_requested : bool
        By `request_stop`, by the overrun policy of a task, by the watchdog, or because the supervisor has died.
    stall : Stall or None
        The task that stood still for `stall_cycles`. If it has actuators, the watchdog sends safe outputs in its
        place until the threads have ended.
    orphaned : bool
        The process that held the table's lifeline has died, and the loop was asked to stop.
    at_rest : bool
        The findings of `stop`, also where it raised.
    start_ns : int
        CLOCK_MONOTONIC time of cycle 0 of all tasks.

    Raises
    ------
    TableError
        The table was made from another plan, or attached for reading only.
    TypeError
        A block's capsule is of another kind or ABI.
    KeyError
        No task writes `safe`.

    Real time
    ---------
    The threads hold no lock, make no system call but the wait (and what a bus block does), touch no
    Python, and allocate nothing; stacks are touched before the first cycle. These methods are for
    the other threads.
    """

    plan: Plan
    table: SignalTable
    fifo: bool
    stop_timeout_s: float
    start_timeout_s: float
    explains: bool
    running: bool
    stop_requested: bool
    stall: Stall | None
    orphaned: bool
    at_rest: bool
    start_ns: int

    def __init__(
        self,
        plan: Plan,
        table: SignalTable,
        *,
        fifo: bool = False,
        safe: str | Sequence[str] = (),
        stop_timeout_s: float = 1.0,
        start_timeout_s: float = 10.0,
        explains: bool = True,
    ) -> None: ...
    def start(self) -> None:
        """Start the threads. OSError when one cannot be made as asked, TimeoutError when one does not get a core."""
    def request_stop(self) -> None:
        """Raise `loop/<task>/stop` in all tasks. May be called from a signal handler, and twice."""
    def wait(self, timeout_s: float) -> bool:
        """Return True as soon as a stop is requested or no thread runs, False after `timeout_s`.

        Signal handlers run meanwhile.
        """
    def stop(self) -> bool:
        """Request the stop, wait until the output is at rest and has been sent, and finish.

        Returns
        -------
        bool
            Whether the output came to rest within `stop_timeout_s`, or the watchdog sent safe
            outputs. The threads have ended.

        Raises
        ------
        TimeoutError
            As `finish`.
        """
    def finish(self, timeout_s: float = 1.0) -> None:
        """End the threads after their current cycle, whose image is published, and join them.

        Raises
        ------
        TimeoutError
            A block hangs. Its thread, the loop and the table are then kept as they are.
        """
    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...

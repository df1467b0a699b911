from collections.abc import Iterable, Sequence
from typing import NamedTuple

class Tick(NamedTuple):
    """The state of the watchdog after a tick.

    `from_ns` is the time from which the next tick counts. `stalled` is the task that stands still, `cycle` the one
    that it had begun, `for_ns` the time since its deadline when it was seen. `stop` says that the loop was asked to
    stop. `sent` counts safe outputs, `called_ns` are the times that the safe entry was called with. For `kept_ns` of
    `for_ns` the watchdog itself was late, or blind after that.
    """

    from_ns: int
    stalled: int | None
    cycle: int
    for_ns: int
    stop: bool
    sent: int
    called_ns: tuple[int, ...]
    kept_ns: int

def watched(
    ticks: Iterable[tuple[int, int, Sequence[tuple[int, bool]]]],
    *,
    stall_ns: int,
    guarded: int | None = None,
    refused: int = 0,
    start_ns: int = 0,
    life: Sequence[int] | None = None,
) -> list[Tick]:
    """Return the findings of the watchdog on tasks whose deadlines are given, tick by tick, as its thread does.

    Parameters
    ----------
    ticks : iterable of (int, int, sequence of (int, bool))
        When the tick was due and when it came; of each task the deadline that it shows, and whether it has ended.
        The number of its cycle is the deadline in microseconds.
    stall_ns : int
        Time since its deadline after which a task stands still.
    guarded : int, optional
        The task that has the actuator.
    refused : int
        The number of times that the safe outputs cannot leave.
    start_ns : int
        Common time zero of the tasks.
    life : sequence of int, optional
        The word of the supervisor's lifeline at each tick.

    Raises
    ------
    ValueError
        More than 64 ticks, or other than one to four tasks, the same in each tick.
    """

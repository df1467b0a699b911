from collections.abc import Mapping
from enum import IntEnum

class Cause(IntEnum):
    """The reason for which a cycle was late or outlived its period; cause.pxd decides."""

    NONE = 0
    LATE_WAKE = 1
    STOLEN = 2
    OWN = 3
    BUS = 4
    UNTOLD = 5

WORDS: dict[Cause, str]

def attribute_cycle(
    *,
    deadline_ns: int,
    woke_ns: int,
    begin_ns: int,
    end_ns: int,
    limit_ns: int,
    cpu_ns: int,
    blocks_ns: int,
    bus_ns: int = 0,
    bus_wait_ns: int = 0,
    usual_own_ns: int = 0,
    usual_bus_ns: int = 0,
    usual_rest_ns: int = 0,
) -> Cause:
    """Return the cause of a cycle that was begun late or outlived its period, as the loop does.

    Parameters
    ----------
    deadline_ns, woke_ns, begin_ns, end_ns, limit_ns : int
        When the cycle was to begin, when its thread was back from its sleep, when it began and ended, and when the
        next one was to begin.
    cpu_ns, blocks_ns, bus_ns : int
        From begin to end: CPU time of the thread, wall time of all blocks and of the bus blocks.
    bus_wait_ns : int
        Longest time that the bus blocks may sleep.
    usual_own_ns, usual_bus_ns, usual_rest_ns : int
        Mean wall times of cycles that kept their period: other blocks, bus blocks, outside of all blocks.

    Real time
    ---------
    The loop calls the C function of cause.pxd: a dozen comparisons, in late cycles only.
    """

def signal_of(cause: Cause) -> str:
    """Return the last part of the loop signal that counts overruns of a cause."""

def explain_overruns(counts: Mapping[Cause, float]) -> str:
    """Return counts in words: `60 stolen, 15 late wake`; empty if all are zero."""

from rt_core.cycle_block import CycleBlock

class BusyBlock(CycleBlock):
    """Take `burn_ns` of wall time, in the steps `first`, `first + every`, ...

    Writes `<name>/burned_ns`, and `<name>/cpu_ns`: the part of it in which the thread had its core.

    Parameters
    ----------
    name : str
    burn_ns : int
    every, first : int
        In steps that were executed; a skipped period does not count.
    sleeps : bool
        Sleep for so long, as a bus does that waits for its reply, instead of spinning.
    of_cpu : bool
        Take that much time of the processor: what others take from the core is not counted.

    Real time
    ---------
    Safe: bounded by `burn_ns`. More than the period makes the task overrun, which is
    its purpose.
    """

    def __init__(
        self,
        name: str,
        burn_ns: int,
        *,
        every: int = 1,
        first: int = 0,
        sleeps: bool = False,
        of_cpu: bool = False,
    ) -> None: ...

class SleepProbe(CycleBlock):
    """Write whether another thread of this process sleeps just now, `<name>/asleep`; zero before `watch`.

    Real time
    ---------
    Bounded, but it reads a file of the kernel's: for measurements only.
    """

    def __init__(self, name: str) -> None: ...
    def watch(self, thread: int) -> None:
        """Say which thread, once, by the kernel's number of it; also while the loop runs.

        Raises
        ------
        OSError
            There is no such thread.
        """

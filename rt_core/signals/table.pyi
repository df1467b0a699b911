from collections.abc import Mapping
from os import PathLike
from typing import Self

import numpy as np
from numpy.typing import NDArray

from rt_core.lateness.histogram import Histogram
from rt_core.plan import Plan, Producer
from rt_core.signals.layout import Layout

class SignalTable:
    """A shared-memory file with the images, rings and histograms of a running loop.

    Real time
    ---------
    Memory is reserved and mapped in at once, so that the loop faults no page in it. The methods
    here are for the processes around the loop; the loop itself writes through shared.pxd.
    """

    path: str
    writable: bool
    layout: Layout

    @property
    def cut(self) -> bool:
        """True if another process cut the file short, as far as it was touched since: that part reads as zeros here,
        and the methods that read or publish raise CutError."""
    @classmethod
    def create(cls, path: str | PathLike[str], plan: Plan, *, run: str = "") -> SignalTable:
        """Make the file (mode 0600), reserve its memory and map it; it is locked (shared) as long as it is mapped here.

        Put it on a memory file system (/dev/shm): a disk's takes pages back to write them out,
        and the loop then faults them in again.

        Parameters
        ----------
        path : path
        plan : Plan
        run : str
            Folder of the run that the table belongs to, for whoever finds it without an owner.

        Raises
        ------
        TableError
            The path exists: a table is never taken over.
        OSError
            No room for it (ENOSPC), or no right.
        """
    @classmethod
    def attach(cls, path: str | PathLike[str], *, writable: bool = False) -> SignalTable:
        """Map the table of another process.

        Parameters
        ----------
        path : path
        writable : bool
            Needed by a loop, a `RingReader` and the supervisor; the others cannot disturb anything
            without it.

        Raises
        ------
        FileNotFoundError
            Not there (yet); a file that is there is complete.
        TableError
            Foreign, truncated or of another ABI; a symbolic link; another user's, or writable by others.
        """
    @property
    def producers(self) -> tuple[Producer, ...]:
        """The writers of the table, each with its signals."""
    def paths(self, producer: str) -> tuple[str, ...]:
        """Signal path of every cell of an image, in order: own signals, then mirrors."""
    def latest(self, producer: str) -> NDArray[np.float64]:
        """Return a consistent copy of the newest image, zeros before the first; shape
        (n_cells,)."""
    def latest_with_number(self, producer: str) -> tuple[int, NDArray[np.float64]]:
        """As `latest`, with the number of the image: 0 before the first."""
    def value(self, path: str) -> float:
        """Return the newest value of one signal, from its writer."""
    def publish(self, signals: Mapping[str, float], producer: str = "supervisor") -> None:
        """Publish signals of the supervisor, or of `live`, as one image; those not given keep their value.

        One process only, for each of the two.
        """
    def histograms(self, task: str) -> dict[str, Histogram]:
        """Return snapshots: `late`, `step`, `bus`, `total`, `explain` (what the causes and the trace of
        late cycles took), and `block/<name>` for each block."""
    def late_events(self, task: str) -> tuple[int, list[tuple[int, NDArray[np.void]]]]:
        """Return the cycles around each late one: see `rt_core.lateness.trace.read_events`."""
    def close(self, *, unlink: bool = False) -> None:
        """Unmap, and remove the file if asked. RuntimeError while a loop or reader uses it."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...

class RingReader:
    """The one consumer of a task's ring, in any process; it may come, go and die at will.

    Attributes
    ----------
    dtype : dtype
        `t_ns` (int64, nominal time), then one float64 field per cell, named by its path.
    """

    table: SignalTable
    dtype: np.dtype[np.void]

    def __init__(self, table: SignalTable, task: str) -> None: ...
    def counters(self) -> dict[str, int]:
        """Return `produced`, `consumed`, `dropped`; produced = consumed + dropped once drained.

        `unwritten` of the consumed ones did not reach the disk, for the reason `unwritten_errno`.
        """
    def tell_unwritten(self, cycles: int, why: int) -> None:
        """Leave in the table how many cycles could not be written in all, and the errno: a full disk takes no word."""
    def drain(self, most: int | None = None) -> NDArray[np.void]:
        """Take the waiting cycles (at most `most` cycles) as a structured array; may be empty.

        Raises
        ------
        TableError
            The counters make no sense.
        """
    def peek(self, most: int | None = None) -> NDArray[np.void]:
        """Copy the cycles that `drain` would take; they stay in the ring until `advance`."""
    def advance(self, n: int) -> None:
        """Take the n oldest cycles out of the ring.

        Raises
        ------
        ValueError
            There are fewer.
        """
    def close(self) -> None:
        """Let go of the table; the ring keeps the rows that were not drained."""

from collections.abc import Iterator, KeysView, Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from rt_core.signals.table import SignalTable

class SignalReader:
    """The newest values of a running loop by path: `reader["wheel/angle_rad"]`.

    It holds the table, which cannot be closed before the reader is. The loop does not notice it.

    Parameters
    ----------
    table : SignalTable
        Attached for reading is enough.

    Real time
    ---------
    For the processes around the loop: one signal takes well below a microsecond, 200 as an array a few.
    """

    table: SignalTable

    def __init__(self, table: SignalTable) -> None: ...
    def __getitem__(self, path: str) -> float:
        """Return the newest value of a signal, from its writer; 0 before its first cycle.

        Raises
        ------
        KeyError
            Nothing writes it; the message has the nearest names.
        TableError
            The table was cut short or written over, or the reader is closed.
        """
    def read(self, paths: Sequence[str]) -> NDArray[np.float64]:
        """Return the newest values of some signals, shape (n,); those of one task are of one cycle.

        Raises
        ------
        KeyError, TableError
            As for one signal.
        """
    def __contains__(self, path: object) -> bool: ...
    def keys(self) -> KeysView[str]: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def close(self) -> None:
        """Let go of the table. Harmless when repeated."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...

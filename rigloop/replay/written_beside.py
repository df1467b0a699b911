"""Rows of records that a thread writes while the next ones are made.

A system call that writes holds no lock of Python, and neither do stepped cycles, so both go on side by side.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from io_bridge.recording.record import RecordWriter

Array = NDArray[np.float64]
ROOMS = 2  # one is filled while the other one is written


class WrittenBeside:
    """The records of some tasks, and two rooms for their rows, which take turns. After the `with` block all is written.

    Parameters
    ----------
    records : mapping of task to RecordWriter
    """

    def __init__(self, records: Mapping[str, RecordWriter]) -> None:
        self._records = records
        self._thread = ThreadPoolExecutor(1, "records")
        self._rooms: list[dict[str, Array]] = [{} for _ in range(ROOMS)]
        self._writing: list[list[Future[None]]] = [[] for _ in range(ROOMS)]
        self._turn = 0

    def room(self, sizes: Mapping[str, int]) -> dict[str, Array]:
        """Return rows for the next cycles of each task, `sizes` of them; what an earlier turn left there is written.

        Raises
        ------
        OSError
            The rows of that turn could not be written.
        """
        self._turn = (self._turn + 1) % ROOMS
        self._wait(self._turn)
        room = self._rooms[self._turn]
        for task, n in sizes.items():
            width = len(self._records[task].dtype.names or ())
            if len(room.get(task, ())) < n:
                # touched here, so that no cycle waits for its pages
                room[task] = np.full((n, width), np.nan)
        return room

    def write(self, task: str, n: int) -> None:
        """Write the first `n` rows of a task's room, some time before the room has its turn again."""
        record = self._records[task]
        rows = self._rooms[self._turn][task][:n].view(record.dtype).reshape(n)
        self._writing[self._turn].append(self._thread.submit(record.append, rows))

    def _wait(self, turn: int) -> None:
        writing, self._writing[turn] = self._writing[turn], []
        for one in writing:
            one.result()

    def __enter__(self) -> WrittenBeside:
        return self

    def __exit__(self, kind: type[BaseException] | None, *exc: object) -> None:
        self._thread.shutdown(wait=True)
        if kind is None:
            for turn in range(ROOMS):
                self._wait(turn)

"""Conditions under which an onlooker of a signal table may end."""

from __future__ import annotations

import os
import select
import signal


class Producer:
    """A callable that returns whether the process that writes a table has ended.

    The process has ended when PID is gone, or when SIGTERM came to *this* process: an onlooker that is asked to end
    finishes the data written so far. Without a PID, it has ended when the table's file was removed. SIGINT
    is left to the supervisor.
    """

    def __init__(self, table_path: str | os.PathLike[str], pid: int | None) -> None:
        self.table_path = table_path
        self.inode = os.stat(table_path).st_ino
        self.terminated = False
        self.pidfd = -1
        if pid is not None:
            try:
                # a descriptor, not a number: the number may be given to another process
                self.pidfd = os.pidfd_open(pid)
            except ProcessLookupError:
                self.terminated = True
        signal.signal(signal.SIGTERM, self._terminate)
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def __call__(self) -> bool:
        if self.pidfd >= 0 or self.terminated:
            # a table that somebody removed is still written, and the record goes on
            self.terminated |= self.pidfd >= 0 and bool(select.select([self.pidfd], [], [], 0)[0])
            return self.terminated
        try:
            same = os.stat(self.table_path).st_ino == self.inode
        except OSError:
            same = False
        return not same

    def close(self) -> None:
        if self.pidfd >= 0:
            os.close(self.pidfd)
            self.pidfd = -1

    def _terminate(self, number: int, frame: object) -> None:
        self.terminated = True

"""Detect a loop that has lost its supervisor without a word: one that died before the kernel was asked to report it."""

from __future__ import annotations

import os
import time
from pathlib import Path

from rigloop.run_folder.tables import supervisor_of

LOOK_S = 0.25


class Orphaned:
    """Asked again and again, it looks now and then.

    A loop whose supervisor dies gets a signal. That signal is lost when the supervisor dies before the loop's process
    has asked for it, or where Python cannot raise; then nobody would ever end the loop.

    Parameters
    ----------
    table : str
        The signal table, named after its supervisor; one with another name has nobody to lose.
    """

    def __init__(self, table: str) -> None:
        self._supervisor = supervisor_of(Path(table))
        self._next = time.monotonic()

    def __call__(self) -> bool:
        now = time.monotonic()
        if self._supervisor is None or now < self._next:
            return False
        self._next = now + LOOK_S
        try:
            os.kill(self._supervisor.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            return False
        # a /proc that shows nothing of a process that is there says nothing
        return Path(f"/proc/{self._supervisor.pid}").exists() and not self._supervisor.lives

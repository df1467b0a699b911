"""The ordinary thread beside a running cycle: recovers slaves, and serves SDOs to other processes."""

from __future__ import annotations

import threading
from collections.abc import Callable

from io_bridge.mailbox_service import MailboxService
from io_bridge.recovery import Recovery

LOOK_S = 0.02


class Attendant:
    """One thread, so that the mailbox of a slave has one user at a time.

    Parameters
    ----------
    recovery : Recovery
    mailbox : MailboxService
    close_line : callable
        Called at the end.
    """

    def __init__(
        self, recovery: Recovery, mailbox: MailboxService, close_line: Callable[[], None]
    ) -> None:
        self.recovery = recovery
        self.mailbox = mailbox
        self._close_line = close_line
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, name="attendant", daemon=True)

    def start(self) -> None:
        self.mailbox.open()
        self._thread.start()

    def stop(self) -> None:
        """End the thread and close what it used."""
        self._ends.set()
        if self._thread.is_alive():
            self._thread.join()
        self.mailbox.close()
        self._close_line()

    def _run(self) -> None:
        while not self._ends.is_set():
            # a request is served at once; else this is the pause between two looks
            if not self.mailbox.serve(LOOK_S):
                self._ends.wait(LOOK_S)
            self.recovery.look()

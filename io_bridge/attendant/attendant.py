"""The ordinary thread beside a running cycle: recovers slaves, listens to them, and serves SDOs to other processes.

Nothing from a socket or a wire ends it: an error of one part is kept in words, and the other parts continue.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

from io_bridge.attendant.mailbox_service import MailboxService
from io_bridge.attendant.recovery import Recovery
from io_bridge.attendant.watch import Watch
from io_bridge.bus_events import BusEvents
from io_bridge.slaves.errors import BringUpError

log = logging.getLogger("rigloop.bus")

LOOK_S = 0.02


class Attendant:
    """One thread, so that the mailbox of a slave has one user at a time.

    Parameters
    ----------
    recovery : Recovery
    mailbox : MailboxService
    watch : Watch
    events : BusEvents
    close_line : callable
        Called at the end.
    more : sequence of (str, callable)
        Further parts of its work, by name.
    """

    def __init__(
        self,
        recovery: Recovery,
        mailbox: MailboxService,
        watch: Watch,
        events: BusEvents,
        close_line: Callable[[], None],
        more: Sequence[tuple[str, Callable[[], None]]] = (),
    ) -> None:
        self.recovery = recovery
        self.mailbox = mailbox
        self.watch = watch
        self._events = events
        self._close_line = close_line
        self._more = tuple(more)
        self._ends = threading.Event()
        self._failed: set[str] = set()
        self._died = ""
        self._thread = threading.Thread(target=self._run, name="attendant", daemon=True)

    def start(self) -> None:
        self.mailbox.open()
        self._thread.start()

    def stop(self) -> None:
        """End the thread and close its sockets."""
        self._ends.set()
        if self._thread.is_alive():
            self._thread.join()
        self.mailbox.close()
        self._close_line()

    @property
    def problem(self) -> str:
        """The reason for which slaves are no longer attended; empty while the thread does its work."""
        if self._thread.ident is None or self._thread.is_alive():
            return ""
        if self._ends.is_set() and not self._died:
            return ""
        return (
            "the thread that recovers slaves and serves SDOs has ended"
            f"{': ' if self._died else ''}{self._died}; since then no slave has been brought back to OP"
        )

    def _run(self) -> None:
        try:
            while not self._ends.is_set():
                # a request is served at once; else this is the pause between two looks
                if not self._guarded("SDOs", lambda: self.mailbox.serve(LOOK_S)):
                    self._ends.wait(LOOK_S)
                self._guarded("recovery", self.recovery.look)
                self._guarded("watch", self.watch.look)
                for name, look in self._more:
                    self._guarded(name, look)
        except BaseException as error:
            self._died = f"{type(error).__name__}: {error}"
            self._events.add("attendant", self.problem)
            log.exception("the attendant has ended")

    def _guarded(self, part: str, act: Callable[[], bool | None]) -> bool:
        """Do a part of the work; its errors are kept once a kind."""
        try:
            return bool(act())
        except (BringUpError, TimeoutError) as error:
            kind = f"{part}: {type(error).__name__}"
            if kind not in self._failed:
                log.warning("%s: %s", part, error)
        except Exception as error:
            kind = f"{part}: an error of this program, which continues: {type(error).__name__}: {error}"
            if kind not in self._failed:
                self._events.add("attendant", kind)
                log.exception("%s", part)
        # a message that changes each time must not fill memory
        if len(self._failed) < 1000:
            self._failed.add(kind)
        return False

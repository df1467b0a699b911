"""Objects of one slave in PREOP: read and written one by one, again where the slave was busy."""

from __future__ import annotations

import logging
import time

from io_bridge.master.master import Master
from io_bridge.slaves import words
from io_bridge.slaves.errors import BringUpError, SdoAbortError
from io_bridge.slaves.pdo_layout import Download

log = logging.getLogger("rigloop.bus")

BUSY = (0x08000020, 0x08000021, 0x08000022)
"""Aborts of a slave that will store the same data a moment later, or never."""
WORD_EVERY_S = 1.0
BUSY_TRIES, BUSY_PAUSE_S = 20, 0.05
MISSING = (0x06020000, 0x06090011, 0x06040041)
FIXED = (0x06010000, 0x06010002)


class SlaveObjects:
    """Mailbox of one slave, with its name in every mistake.

    Parameters
    ----------
    master : Master
    station : int
    name : str
        Of the drive or terminal.
    """

    def __init__(self, master: Master, station: int, name: str) -> None:
        self._master = master
        self._station = station
        self.name = name
        self._began = self._told = time.monotonic()
        self._n = 0

    def upload(self, index: int, sub: int = 0) -> bytes:
        """Read an object.

        Raises
        ------
        SdoAbortError
            The slave refuses it.
        BringUpError
            No answer.
        """
        self._count()
        return self._master.upload(self._station, index, sub)

    def _count(self) -> None:
        """A slow mailbox takes seconds in all; progress is reported."""
        self._n += 1
        now = time.monotonic()
        if now - self._told > WORD_EVERY_S:
            self._told = now
            self._master.tell(
                f"{self.name}: {self._n} objects read and written in {now - self._began:.1f} s"
            )

    def download(self, item: Download) -> None:
        """Write an object; a slave that cannot store it just now is asked again. Errors are those of `upload`."""
        index, sub, value, size = item
        self._count()
        for again in range(BUSY_TRIES):
            try:
                self._master.download(self._station, index, sub, value % (1 << 8 * size), size)
            except SdoAbortError as error:
                if error.code not in BUSY or again == BUSY_TRIES - 1:
                    raise
                if not again:
                    log.info("%s: %s; tried again", self.name, error)
                self._wait()
            else:
                return

    def _wait(self) -> None:
        if self._master.pause_s:
            time.sleep(BUSY_PAUSE_S)
        else:  # looking lets time pass
            for _ in range(round(BUSY_PAUSE_S / 1e-4)):
                self._master.state(self._station)

    def demand(self, item: Download, name: str = "") -> None:
        """Write an object that the rig asks for, for the drive or terminal of this name: one of several axes.

        Raises
        ------
        BringUpError
            The slave refuses it; with names.
        """
        try:
            self.download(item)
        except SdoAbortError as error:
            raise BringUpError(
                f"{name or self.name}: SDO {item[0]:#06x}:{item[1]} aborted: {words.sdo_abort(error.code)}"
                f" (written: {item[2]})"
            ) from error

"""Listens to what slaves say beside the cycle: emergencies in mailboxes, and the error code of a drive in fault."""

from __future__ import annotations

import functools
import time
from collections.abc import Sequence

from io_bridge import words
from io_bridge.bus_errors import BringUpError
from io_bridge.bus_events import BusEvents
from io_bridge.cia402 import drive_state
from io_bridge.diagnosis import diagnose
from io_bridge.exchange import Exchange
from io_bridge.master import FPRD, Master
from io_bridge.pdo_layout import SlaveRecord

MAILBOX_STATUS = 0x080D
FULL = 0x08
OP = 8
AGAIN_S = 1.0
FAULTY = ("fault", "fault reaction active")


class Watch:
    """Part of the attendant; asks nothing of a slave that is well.

    Parameters
    ----------
    master : Master
    exchange : Exchange
    records : sequence of SlaveRecord
    events : BusEvents
        Takes the sentences.
    every_s : float or None
        How often mailboxes are looked into; None where a look costs the cycle its inputs: then only after a fault.
    """

    def __init__(
        self,
        master: Master,
        exchange: Exchange,
        records: Sequence[SlaveRecord],
        events: BusEvents,
        every_s: float | None,
    ) -> None:
        self._master = master
        self._exchange = exchange
        self._stations = [record.layout.station for record in records]
        self._events = events
        self._every_s = every_s
        self._looked_s = time.monotonic()
        self._in_fault: set[str] = set()
        self._tried: dict[str, float] = {}
        self._seen: dict[int, int] = {}
        positions = {slave.name: i for i, slave in enumerate(exchange.slaves)}
        self._drives = [(drive.name, positions[drive.name]) for drive in exchange.drives]

    def look(self) -> None:
        """Fetch what is new.

        Raises
        ------
        BringUpError
            A slave did not answer.
        """
        now = time.monotonic()
        if self._every_s is not None and now - self._looked_s >= self._every_s:
            self._looked_s = now
            self._listen()
        for i, (name, position) in enumerate(self._drives):
            self._look_at_drive(i, name, position)
        self._keep_emergencies()

    def _listen(self) -> None:
        asked = [station for station in self._stations if self._master.has_mailbox(station)]
        if not asked:
            return
        found = self._master.exchange([(FPRD, s, MAILBOX_STATUS, bytes(1)) for s in asked])
        for station, (status, wkc) in zip(asked, found, strict=True):
            if wkc and status[0] & FULL:
                self._master.client(station).mailbox.drain()

    def _look_at_drive(self, i: int, name: str, position: int) -> None:
        status = self._exchange.slave_status(position)
        if not status[4] or status[0] != OP:
            return
        statusword = self._exchange.drive_status(i)[2]
        if words.DRIVE_STATES[drive_state(statusword)] not in FAULTY:
            self._in_fault.discard(name)
            return
        now = time.monotonic()
        if name in self._in_fault or now - self._tried.get(name, -AGAIN_S) < AGAIN_S:
            return
        self._tried[name] = now
        station = self._stations[position]
        if not self._master.has_mailbox(station):
            return
        try:
            found = diagnose(functools.partial(self._master.upload, station)).sentences()
        except BringUpError as error:
            self._events.add(name, f"in fault; why is not known: {error}")
            raise
        self._in_fault.add(name)
        self._events.add(name, "in fault: " + ("; ".join(found) or "it gives no error code"))

    def _keep_emergencies(self) -> None:
        log = self._master.emergencies
        for position, station in enumerate(self._stations):
            seen = self._seen.get(station, 0)
            n = log.counts.get(station, 0)
            if n == seen:
                continue
            for emergency in log.of(station)[-min(n - seen, 8) :]:
                name = self._exchange.slaves[position].name
                self._events.add(name, str(emergency), emergency.time_ns)
            self._seen[station] = n

"""Listens to messages of slaves outside the cycle: emergencies in mailboxes, and the error code of a drive in fault."""

from __future__ import annotations

import functools
import time
from collections.abc import Sequence

from io_bridge.bus_events import BusEvents
from io_bridge.exchange.exchange import Exchange
from io_bridge.master.diagnosis import diagnose
from io_bridge.master.master import FPRD, Master
from io_bridge.master.processor_watch import is_silent, processor_words, questions
from io_bridge.slaves import words
from io_bridge.slaves.cia402 import drive_state
from io_bridge.slaves.drive_config import DriveConfig
from io_bridge.slaves.errors import BringUpError
from io_bridge.slaves.pdo_layout import SlaveRecord, axes_of

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
        groups = axes_of(exchange.slaves)
        self._stations = [record.layout.station for record in records]
        self._names = ["+".join(slave.name for slave in group) for group in groups]
        # an axis is not a slave of its own
        station_of = {
            slave.name: station
            for group, station in zip(groups, self._stations, strict=True)
            for slave in group
        }
        self._events = events
        self._every_s = every_s
        self._looked_s = time.monotonic()
        self._in_fault: set[str] = set()
        self._dead: set[int] = set()
        self._tried: dict[str, float] = {}
        self._seen: dict[int, int] = {}
        positions = {slave.name: i for i, slave in enumerate(exchange.slaves)}
        self._drives = [
            (drive, positions[drive.name], station_of[drive.name]) for drive in exchange.drives
        ]

    def look(self) -> None:
        """Fetch new messages.

        Raises
        ------
        BringUpError
            A slave did not answer.
        """
        now = time.monotonic()
        if self._every_s is not None and now - self._looked_s >= self._every_s:
            self._looked_s = now
            self._listen()
            self._look_at_processors()
        for i, (drive, position, station) in enumerate(self._drives):
            self._look_at_drive(i, drive, position, station)
        self._keep_emergencies()

    def _listen(self) -> None:
        asked = [station for station in self._stations if self._master.has_mailbox(station)]
        if not asked:
            return
        found = self._master.exchange([(FPRD, s, MAILBOX_STATUS, bytes(1)) for s in asked])
        for station, (status, wkc) in zip(asked, found, strict=True):
            if wkc and status[0] & FULL:
                self._master.client(station).mailbox.drain()

    def _look_at_processors(self) -> None:
        """A controller continues alone when its processor has stopped, and its counters are right."""
        for name, station in zip(self._names, self._stations, strict=True):
            expired = is_silent(self._master.exchange(questions(station)))
            if expired and station not in self._dead:
                self._dead.add(station)
                self._events.add(name, processor_words(expired), warns=True)
            elif not expired and station in self._dead:
                self._dead.discard(station)
                self._events.add(name, "its own processor serves its EtherCAT controller again")

    def _look_at_drive(self, i: int, drive: DriveConfig, position: int, station: int) -> None:
        name = drive.name
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
        if not self._master.has_mailbox(station):
            return
        try:
            found = diagnose(
                functools.partial(self._master.upload, station), drive.axis
            ).sentences()
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
                self._events.add(self._names[position], str(emergency), emergency.time_ns)
            self._seen[station] = n

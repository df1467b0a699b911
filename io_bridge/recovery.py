"""Bring slaves that left OP back: after a watchdog, an unplugged cable, a power cycle. Never in the cycle."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence

from io_bridge import slave_clock, words
from io_bridge.bringup import OP, SAFEOP, SlaveConfig, check_identity, configure
from io_bridge.bus import gap_words
from io_bridge.bus_events import BusEvents
from io_bridge.clock_config import ClockConfig
from io_bridge.drive_config import DriveConfig
from io_bridge.exchange import Exchange
from io_bridge.master import APRD, FPRD, BringUpError, Master
from io_bridge.pdo_layout import SlaveRecord

log = logging.getLogger("rigloop.bus")


class Recovery:
    """Looks at what the cycle sees of every slave, and takes one step for one of them at each look.

    Outputs stay at rest meanwhile: the cycle holds them after a fault until they are armed again.

    Parameters
    ----------
    master : Master
        Beside the cycle.
    exchange : Exchange
    records : sequence of SlaveRecord
        How the slaves were configured, in ring order.
    events : BusEvents, optional
        Takes what happened.
    """

    def __init__(
        self,
        master: Master,
        exchange: Exchange,
        records: Sequence[SlaveRecord],
        events: BusEvents | None = None,
    ) -> None:
        self.master = master
        self._exchange = exchange
        self._records = tuple(records)
        self._since: dict[int, float] = {}  # slave → when it left OP
        self._next = 0
        self._gap = ""
        self._events = BusEvents() if events is None else events
        self.problems: dict[int, str] = {}
        """What keeps a slave from OP, by its place in the ring."""

    def look(self) -> None:
        """Take one step for the next slave that is not in OP; raises nothing."""
        self._tell_gap()
        away = []
        for i, slave in enumerate(self._exchange.slaves):
            status, code, _, _, answers = self._exchange.slave_status(i)
            if answers and status == OP:
                if i in self._since:
                    away_s = time.monotonic() - self._since.pop(i)
                    self._say(slave.name, f"back in OP after {away_s:.2f} s")
                    self.problems.pop(i, None)
                continue
            if i not in self._since:
                self._since[i] = time.monotonic()
                said = (
                    f"{words.al_state(status)}, {words.al_code(code)}" if answers else "no answer"
                )
                self._say(slave.name, f"left OP: {said}")
            away.append(i)
        if not away:
            return
        i = min((i for i in away if i >= self._next), default=away[0])
        self._next = i + 1
        try:
            self._step(i)
        except (BringUpError, TimeoutError, ValueError) as error:
            self._tell(i, str(error))

    def _step(self, i: int) -> None:
        record, slave = self._records[i], self._exchange.slaves[i]
        station = record.layout.station
        data, found = self.master.access(FPRD, station, 0x0130, bytes(6))
        if not found:
            self._readdress(i, slave, record)
            return
        status = data[0]
        if status & 0x0F == SAFEOP:
            if status & 0x10:
                self.master.request(station, SAFEOP)
                self.master.await_state(station, SAFEOP)
        elif status != OP:
            self._configure(slave, record)
        self.master.request(station, OP)

    def _readdress(self, i: int, slave: SlaveConfig, record: SlaveRecord) -> None:
        """A slave that has lost its address has lost its power: from the start, if it is the same."""
        data, found = self.master.access(APRD, -i, 0x0010, bytes(2))
        if not found:
            self._tell(i, f"{slave.name}: slave {i} does not answer: cable or power")
            return
        if data != bytes(2):
            self._tell(i, f"{slave.name}: another slave is at position {i} of the ring")
            return
        station = self.master.address(i)
        wrong = check_identity(i, slave, self.master.identity(station))
        if wrong:
            self.master.access(FPRD + 1, station, 0x0010, bytes(2))
            self._tell(i, "; ".join(wrong))
            return
        self._configure(slave, record)
        self.master.request(station, OP)

    def _configure(self, slave: SlaveConfig, record: SlaveRecord) -> None:
        master, station = self.master, record.layout.station
        others = [
            r.layout.station
            for r in self._records
            if r.layout.has_clock and r.layout.station != station
        ]
        if record.layout.has_clock and others:
            master.write(station, slave_clock.DELAY, record.clock_delay)
            slave_clock.set_offset(master, station, others[0])
        configure(master, slave, record)
        clock: ClockConfig | None = self._exchange.clock
        if clock is not None and isinstance(slave, DriveConfig) and slave.sync0:
            slave_clock.start_sync0(master, station, clock)

    def _tell_gap(self) -> None:
        gap = gap_words(self._exchange)
        if gap != self._gap:
            said = gap or "the ring is closed again"
            log.warning("%s", said)
            self._events.add(self._exchange.name, said)
        self._gap = gap

    def _tell(self, i: int, problem: str) -> None:
        if self.problems.get(i) != problem:
            log.warning("%s", problem)
            self._events.add(self._exchange.slaves[i].name, problem)
        self.problems[i] = problem

    def _say(self, name: str, said: str) -> None:
        log.warning("%s: %s", name, said)
        self._events.add(name, said)

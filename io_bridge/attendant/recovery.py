"""Bring slaves that left OP back: after a watchdog, an unplugged cable, a power cycle. Never in the cycle."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from io_bridge.bus import gap_words
from io_bridge.bus_events import BusEvents
from io_bridge.exchange.exchange import Exchange
from io_bridge.master import slave_clock
from io_bridge.master.bringup import OP, SAFEOP, SlaveConfig, again, check_identity, wants_sync0
from io_bridge.master.master import APRD, FPRD, BringUpError, Master
from io_bridge.master.state_change import reach
from io_bridge.slaves import words
from io_bridge.slaves.clock_config import ClockConfig
from io_bridge.slaves.drive_config import DriveConfig
from io_bridge.slaves.pdo_layout import SlaveRecord, axes_of, is_joined

log = logging.getLogger("rigloop.bus")

LOOKS_AT_ONCE = 20
"""Number of polls of a slave that changes its state before the thread turns to others."""


class Recovery:
    """Reads the state of every slave in the cycle, and takes one step with one of them at each look.

    A slave may take its time, as long as the standard allows: its transition continues at later looks.

    Outputs stay at rest meanwhile: the cycle holds them after a fault until they are armed again.

    Parameters
    ----------
    master : Master
        Beside the cycle.
    exchange : Exchange
    records : sequence of SlaveRecord
        How the slaves were configured, in ring order.
    events : BusEvents, optional
        Takes the events.
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
        firsts = [i for i, slave in enumerate(exchange.slaves) if not is_joined(slave)]
        self._places = dict(zip(firsts, range(len(records)), strict=True))
        self._groups = axes_of(exchange.slaves)
        master.names |= {
            record.layout.station: exchange.slaves[i].name
            for i, record in zip(firsts, self._records, strict=True)
        }
        self._ways: dict[int, Iterator[None]] = {}  # the steps that a slave is on
        self._since: dict[int, float] = {}  # slave → when it left OP
        self._seen: set[int] = set()  # slaves that the cycle has seen in OP
        self._next = 0
        self._gap = ""
        self._events = BusEvents() if events is None else events
        self.problems: dict[int, str] = {}
        """The problem that keeps a slave from OP, by its place in the ring."""

    def look(self) -> None:
        """Take one step for the next slave that is not in OP; raises nothing."""
        self._tell_gap()
        away = []
        for i in self._places:
            slave = self._exchange.slaves[i]
            status, code, _, _, answers = self._exchange.slave_status(i)
            if answers and status == OP:
                self._seen.add(i)
                problem = self.problems.pop(i, None)
                if i in self._since:
                    away_s = time.monotonic() - self._since.pop(i)
                    self._say(slave.name, f"back in OP after {away_s:.2f} s")
                elif problem is not None:
                    self._say(slave.name, "in OP")
                self._ways.pop(i, None)
                continue
            # before its first frame the cycle knows only how the slave was on its way to OP
            if i not in self._since and (i in self._seen or code):
                self._since[i] = time.monotonic()
                self._say(slave.name, f"left OP: {_left_words(status, code, answers)}")
            away.append(i)
        if not away:
            return
        i = min((i for i in away if i >= self._next), default=away[0])
        self._next = i + 1
        try:
            self._go_on(i)
        except (BringUpError, TimeoutError, ValueError) as error:
            self._ways.pop(i, None)
            self._tell(i, str(error))

    def _go_on(self, i: int) -> None:
        way = self._ways.setdefault(i, self._way(i))
        for _ in range(LOOKS_AT_ONCE):
            try:
                next(way)
            except StopIteration:
                self._ways.pop(i)
                return
            if self.master.pause_s:
                time.sleep(self.master.pause_s)

    def _way(self, i: int) -> Iterator[None]:
        """Yield wherever something is waited for, from where the slave is to OP."""
        record, slave = self._records[self._places[i]], self._exchange.slaves[i]
        station = record.layout.station
        data, found = self.master.access(FPRD, station, 0x0130, bytes(6))
        if not found:
            if not self._readdress(i, slave):
                return
            yield from self._configure(self._places[i], slave)
        elif data[0] & 0x0F == SAFEOP:
            if data[0] & 0x10:
                self.master.request(station, SAFEOP)
                yield from reach(self.master, station, SAFEOP, slave.limits)
        elif data[0] != OP:
            yield from self._configure(self._places[i], slave)
        yield from reach(self.master, station, OP, slave.limits)

    def _readdress(self, i: int, slave: SlaveConfig) -> bool:
        """A slave that has lost its address has lost its power; return whether it is the same and has its address
        back."""
        place = self._places[i]
        data, found = self.master.access(APRD, -place, 0x0010, bytes(2))
        if not found:
            self._tell(i, f"slave {place} does not answer: cable or power; it is tried again")
            return False
        if data != bytes(2):
            self._tell(
                i, f"another slave is at position {place} of the ring: connect them as they were"
            )
            return False
        station = self.master.address(place)
        try:
            there = self.master.identity(station)
            wrong = check_identity(place, slave, there)
            # the torque of a run was judged by the drive that it began with
            if not wrong and isinstance(slave, DriveConfig):
                was = replace(slave, identity=self._records[place].identity)
                wrong = [
                    text.replace("the rig has", "the run began with")
                    for text in check_identity(place, was, there)
                ]
        except BringUpError:
            self.master.access(FPRD + 1, station, 0x0010, bytes(2))
            raise
        if wrong:
            self.master.access(FPRD + 1, station, 0x0010, bytes(2))
            self._tell(i, "; ".join(wrong))
        return not wrong

    def _configure(self, place: int, slave: SlaveConfig) -> Iterator[None]:
        master, record = self.master, self._records[place]
        station = record.layout.station
        others = [
            r.layout.station
            for r in self._records
            if r.layout.has_clock and r.layout.station != station
        ]
        if record.layout.has_clock and others:
            master.write(station, slave_clock.DELAY, record.clock_delay)
            slave_clock.set_offset(master, station, others[0])
        yield from again(master, slave, record)
        clock: ClockConfig | None = self._exchange.clock
        if clock is not None and wants_sync0(self._groups[place]):
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


def _left_words(status: int, code: int, answers: bool) -> str:
    """Return the state of a slave that was in OP, and its likely meaning."""
    if not answers:
        return "it does not answer: cable or power"
    where = f"it is in {words.al_state(status)}"
    if code:
        return f"{where}, {words.al_code(code)}"
    return f"{where} without an error: it was asked to, by another master, or it has restarted"

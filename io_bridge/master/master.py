"""A small EtherCAT master: datagrams, EEPROM, mailbox and states of single slaves.

It brings the in-process segment up, and on a real interface does the work of pysoem during the cycle:
looks, recovers, serves SDOs.
"""

from __future__ import annotations

import contextlib
import struct
import time
from collections.abc import Callable, Sequence

from io_bridge.master.coe_client import CoeClient
from io_bridge.master.datagram_words import asked_words, register_words
from io_bridge.master.emergency import EmergencyLog
from io_bridge.master.mailbox import Areas, Mailbox, MailboxError, Postage
from io_bridge.master.waiting import Waiting
from io_bridge.slaves.errors import BringUpError, NoReplyError, SdoAbortError
from io_bridge.slaves.sii import Identity
from io_bridge.slaves.state_limits import STANDARD, StateLimits
from io_bridge.wire.frame import WireDatagram, build, parse

__all__ = ["BringUpError", "Master", "SdoAbortError"]

APRD, APWR, FPRD, FPWR, BRD, BWR = 1, 2, 4, 5, 7, 8
STATION = 0x1001
MOST_SLAVES = 0x1000
"""Stations beyond are those of a foreign master, and say nothing of a place in the ring."""
N_INDICES = 16
TRIES = 3
"""Number of attempts at a register access whose frame is lost."""
GONE = ": its cable or power is out, or it has lost its address"
EEPROM_BUSY, EEPROM_FAILED = 0x80, 0x20
"""Bits of the high byte of 0x0502; the second one is an error of the command."""
EEPROM_S = 2.0
"""Time limit of an EEPROM for one read."""
MAILBOX_MODE = 2
"""Mode in the control byte of a sync manager."""
BLANK = 0xFFFF
"""Word of an EEPROM that nobody has written."""


class Master:
    """Acyclic master over a function that exchanges one frame.

    Parameters
    ----------
    transact : callable
        Takes a frame, returns the frame that came back or None.
    first_index : int
        It uses 16 indices from here on; below 0x80, which belong to the cycle.
    pause_s : float
        Between two looks at a state; 0 where looking lets time pass.
    tell : callable, optional
        Takes a sentence about a long wait.
    """

    def __init__(
        self,
        transact: Callable[[bytes], bytes | None],
        *,
        first_index: int = 0,
        pause_s: float = 0.0,
        tell: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._transact = transact
        self._first_index = first_index
        self.pause_s = pause_s
        self.tell = tell
        self.names: dict[int, str] = {}
        """Names of slaves by their station, for messages."""
        self.limits: dict[int, StateLimits] = {}
        """Time limits of slaves, by their station; set before their mailboxes are."""
        self._index = 0
        self._clients: dict[int, CoeClient] = {}
        self.emergencies = EmergencyLog(self.called)

    def exchange(self, datagrams: Sequence[tuple[int, int, int, bytes]]) -> list[tuple[bytes, int]]:
        """Send (command, address, register, data) in one frame; return data and working counter of each.

        Raises
        ------
        BringUpError
            No reply.
        """
        self._index = (self._index + 1) % N_INDICES
        index = self._first_index + self._index
        sent = [
            WireDatagram(command, index, register << 16 | address & 0xFFFF, data)
            for command, address, register, data in datagrams
        ]
        reply = self._transact(build(sent))
        command, address, register, _ = datagrams[0]
        if reply is None:
            raise NoReplyError(
                f"{self._asked(command, address, register)} did not come back; if this persists, check cable, "
                "power and interface"
            )
        try:
            back = parse(reply)
        except ValueError as error:
            raise NoReplyError(
                f"{self._asked(command, address, register)} came back damaged ({error}); if this persists, "
                "check cable and plugs"
            ) from error
        asked = [(d.command, d.index, len(d.data)) for d in sent]
        if [(d.command, d.index, len(d.data)) for d in back] != asked:
            raise NoReplyError(
                f"{self._asked(command, address, register)} was answered by another frame; if this persists, "
                "another master uses this wire"
            )
        return [(d.data, d.wkc) for d in back]

    def _asked(self, command: int, address: int, register: int) -> str:
        return asked_words(command, address, register, self.called, STATION)

    def called(self, station: int) -> str:
        """Return a slave as messages call it."""
        position, name = station - STATION, self.names.get(station)
        if name is not None:
            return f"slave {position} ({name})"
        return f"slave {position}" if 0 <= position < MOST_SLAVES else f"slave {station:#06x}"

    def access(self, command: int, address: int, register: int, data: bytes) -> tuple[bytes, int]:
        """Send one datagram; return its data and working counter."""
        return self.exchange([(command, address, register, data)])[0]

    def read(self, station: int, register: int, size: int) -> bytes:
        """Read registers of one slave."""
        data, wkc = self._try(FPRD, station, register, bytes(size))
        if wkc != 1:
            raise BringUpError(
                f"{self.called(station)}: no answer when {register_words(register)} is read{GONE}"
            )
        return data

    def write(self, station: int, register: int, data: bytes) -> None:
        """Write registers of one slave."""
        _, wkc = self._try(FPWR, station, register, data)
        if wkc != 1:
            raise BringUpError(
                f"{self.called(station)}: no answer when {register_words(register)} is written{GONE}"
            )

    def _try(self, command: int, station: int, register: int, data: bytes) -> tuple[bytes, int]:
        """Send a datagram again when its frame is lost: a read or a write of this kind may be repeated."""
        for _ in range(TRIES - 1):
            try:
                return self.access(command, station, register, data)
            except NoReplyError:
                continue
        return self.access(command, station, register, data)

    def count(self) -> int:
        """Return how many slaves answer."""
        return self.access(BRD, 0, 0x0000, bytes(1))[1]

    def address(self, position: int) -> int:
        """Give the slave at a ring position its station address and return it."""
        station = STATION + position
        _, wkc = self.access(APWR, -position, 0x0010, struct.pack("<H", station))
        if wkc != 1:
            raise BringUpError(f"slave {position}: does not accept a station address")
        return station

    def take_eeprom(self, station: int) -> None:
        """Have the EEPROM answer to the bus, where the slave's own processor had it last."""
        if self.read(station, 0x0500, 1)[0] & 1:
            self.write(station, 0x0500, b"\2")
            self.write(station, 0x0500, b"\0")

    def eeprom(self, station: int, word: int) -> int:
        """Read two words of the slave information interface; waits while it is busy.

        Raises
        ------
        BringUpError
            It stays busy, or says that it cannot be read.
        """
        watch = Waiting(self.pause_s, EEPROM_S, self.tell)
        what = f"{self.called(station)}: its EEPROM is busy at word {word:#x}"
        asked = False
        while True:
            status = self.read(station, 0x0502, 2)[1]
            if not status & EEPROM_BUSY:
                if asked and not status & EEPROM_FAILED:
                    return int.from_bytes(self.read(station, 0x0508, 4), "little")
                # the command clears an earlier error; without its acknowledge it is given again
                self.write(station, 0x0502, struct.pack("<HI", 0x0100, word))
                asked = True
            if not watch.look(what):
                why = "cannot be read" if status & EEPROM_FAILED else "stays busy"
                raise BringUpError(
                    f"{self.called(station)}: its EEPROM {why} at word {word:#x} (status {status << 8:#06x}, "
                    f"{EEPROM_S:g} s)"
                )
            if self.pause_s and status & (EEPROM_BUSY | EEPROM_FAILED):
                time.sleep(self.pause_s)

    def identity(self, station: int) -> Identity:
        """Return vendor, product, revision and serial number from the EEPROM."""
        return Identity(*(self.eeprom(station, word) for word in (8, 10, 12, 14)))

    def set_mailbox(self, station: int) -> None:
        """Set sync managers 0 and 1 as the EEPROM says; a slave may have no mailbox."""
        out, back = self.eeprom(station, 0x18), self.eeprom(station, 0x1A)
        if out >> 16 in (0, BLANK) or back >> 16 in (0, BLANK):
            return
        areas = Areas(out & 0xFFFF, out >> 16, back & 0xFFFF, back >> 16)
        self._open_mailbox(station, areas, taken_over=False)
        self.write(
            station, 0x0800, struct.pack("<HHBBBB", areas.out, areas.out_size, 0x26, 0, 1, 0)
        )
        self.write(
            station, 0x0808, struct.pack("<HHBBBB", areas.back, areas.back_size, 0x22, 0, 1, 0)
        )

    def know_mailbox(self, station: int, managers: bytes, *, taken_over: bool = True) -> None:
        """Take the mailbox from the registers of sync managers 0 and 1; a slave may have none.

        Parameters
        ----------
        station : int
        managers : bytes
            16 or more.
        taken_over : bool
            Another master has used it since the slave was in INIT.
        """
        out, out_size, back, back_size = struct.unpack_from("<HH4xHH", managers)
        if out_size and managers[6] & 1 and managers[4] & 0x03 == MAILBOX_MODE:
            self._open_mailbox(
                station, Areas(out, out_size, back, back_size), taken_over=taken_over
            )

    def _open_mailbox(self, station: int, areas: Areas, *, taken_over: bool) -> None:
        mailbox = Mailbox(
            Postage(self.access, self.emergencies, self.pause_s, called=self.called),
            station,
            areas,
            limits=self.limits.get(station, STANDARD),
            taken_over=taken_over,
        )
        self._clients[station] = CoeClient(mailbox)

    def has_mailbox(self, station: int) -> bool:
        """Return whether the slave's mailbox is known."""
        return station in self._clients

    def leave_mailbox(self, station: int) -> None:
        """Part from a mailbox that pysoem uses next: its first message has counter 1, and a slave takes one with the
        counter of the last for a repetition."""
        client = self._clients.get(station)
        if client is not None and client.mailbox.last_counter == 1:
            with contextlib.suppress(BringUpError):
                client.upload(0x1000, 0)

    def client(self, station: int) -> CoeClient:
        """Return the client that reads and writes objects of a slave."""
        if station not in self._clients:
            raise MailboxError(f"{self.called(station)}: it has no mailbox")
        return self._clients[station]

    def upload(self, station: int, index: int, sub: int) -> bytes:
        """Read an object, in segments when it is larger than the mailbox."""
        return self.client(station).upload(index, sub)

    def download(self, station: int, index: int, sub: int, value: int, size: int) -> None:
        """Write a number of `size` bytes.

        Raises
        ------
        ValueError
            It does not fit them.
        """
        if not -(1 << 8 * size - 1) <= value < 1 << 8 * size:
            raise ValueError(f"SDO {index:#06x}:{sub} = {value}: does not fit {size} bytes")
        data = (value % (1 << 8 * size)).to_bytes(size, "little")
        self.client(station).download(index, sub, data)

    def state(self, station: int) -> tuple[int, int]:
        """Return AL status and AL status code."""
        status, code = struct.unpack("<HxxH", self.read(station, 0x0130, 6))
        return status, code

    def request(self, station: int, state: int) -> None:
        """Ask for an AL state, acknowledging an error."""
        self.write(station, 0x0120, struct.pack("<H", state | 0x10))

"""A small EtherCAT master: datagrams, EEPROM, mailbox and states of single slaves.

It brings the in-process segment up, and on a real interface does beside the cycle what pysoem did before it:
looks, recovers, serves SDOs.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Sequence

from io_bridge import words
from io_bridge.drive_config import PdoEntry
from io_bridge.frame import WireDatagram, build, parse
from io_bridge.pdo_layout import pdo_downloads
from io_bridge.sii import Identity

APRD, APWR, FPRD, FPWR, BRD, BWR = 1, 2, 4, 5, 7, 8
STATION = 0x1001
POLLS = 1000
N_INDICES = 16


class BringUpError(RuntimeError):
    """The segment could not be brought up; the message names slave, step and cause."""


class SdoAbortError(BringUpError):
    """The slave refused an object; `code` says why."""

    def __init__(self, station: int, index: int, subindex: int, code: int) -> None:
        super().__init__(
            f"slave {station:#06x}: SDO {index:#06x}:{subindex} aborted: {words.sdo_abort(code)}"
        )
        self.code = code


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
    """

    def __init__(
        self,
        transact: Callable[[bytes], bytes | None],
        *,
        first_index: int = 0,
        pause_s: float = 0.0,
    ) -> None:
        self._transact = transact
        self._first_index = first_index
        self._pause_s = pause_s
        self._index = 0
        self._mailbox_counter = 0
        self._mailbox: dict[int, tuple[int, int, int, int]] = {}

    def exchange(self, datagrams: Sequence[tuple[int, int, int, bytes]]) -> list[tuple[bytes, int]]:
        """Send (command, address, register, data) in one frame; return data and working counter of each.

        Raises
        ------
        BringUpError
            No reply.
        """
        self._index = (self._index + 1) % N_INDICES
        index = self._first_index + self._index
        reply = self._transact(
            build(
                [
                    WireDatagram(command, index, register << 16 | address & 0xFFFF, data)
                    for command, address, register, data in datagrams
                ]
            )
        )
        if reply is None:
            command, _, register, _ = datagrams[0]
            raise BringUpError(f"no reply to command {command} at register {register:#06x}")
        return [(back.data, back.wkc) for back in parse(reply)]

    def access(self, command: int, address: int, register: int, data: bytes) -> tuple[bytes, int]:
        """Send one datagram; return its data and working counter."""
        return self.exchange([(command, address, register, data)])[0]

    def read(self, station: int, register: int, size: int) -> bytes:
        """Read registers of one slave."""
        data, wkc = self.access(FPRD, station, register, bytes(size))
        if wkc != 1:
            raise BringUpError(f"slave {station:#06x}: no answer to a read of {register:#06x}")
        return data

    def write(self, station: int, register: int, data: bytes) -> None:
        """Write registers of one slave."""
        _, wkc = self.access(FPWR, station, register, data)
        if wkc != 1:
            raise BringUpError(f"slave {station:#06x}: no answer to a write of {register:#06x}")

    def count(self) -> int:
        """Return how many slaves answer."""
        return self.access(BRD, 0, 0x0000, bytes(1))[1]

    def address(self, position: int) -> int:
        """Give the slave at a ring position its station address and return it."""
        station = STATION + position
        _, wkc = self.access(APWR, -position, 0x0010, struct.pack("<H", station))
        if wkc != 1:
            raise BringUpError(f"slave {position}: takes no station address")
        return station

    def eeprom(self, station: int, word: int) -> int:
        """Read two words of the slave information interface."""
        self.write(station, 0x0502, struct.pack("<HI", 0x0100, word))
        for _ in range(POLLS):
            if not self.read(station, 0x0502, 2)[1] & 0x80:
                return int.from_bytes(self.read(station, 0x0508, 4), "little")
        raise BringUpError(f"slave {station:#06x}: EEPROM stays busy at word {word:#x}")

    def identity(self, station: int) -> Identity:
        """Return vendor, product, revision and serial number from the EEPROM."""
        return Identity(*(self.eeprom(station, word) for word in (8, 10, 12, 14)))

    def set_mailbox(self, station: int) -> None:
        """Set sync managers 0 and 1 as the EEPROM says; a slave may have no mailbox."""
        out, back = self.eeprom(station, 0x18), self.eeprom(station, 0x1A)
        if out >> 16 == 0:
            return
        self._mailbox[station] = (out & 0xFFFF, out >> 16, back & 0xFFFF, back >> 16)
        self.write(station, 0x0800, struct.pack("<HHBBBB", out & 0xFFFF, out >> 16, 0x26, 0, 1, 0))
        self.write(
            station, 0x0808, struct.pack("<HHBBBB", back & 0xFFFF, back >> 16, 0x22, 0, 1, 0)
        )

    def know_mailbox(self, station: int, managers: bytes) -> None:
        """Take the mailbox from the registers of sync managers 0 and 1, set by another master."""
        out, out_size, back, back_size = struct.unpack_from("<HH4xHH", managers)
        if out_size and managers[6] & 1:
            self._mailbox[station] = (out, out_size, back, back_size)

    def has_mailbox(self, station: int) -> bool:
        """Whether the slave's mailbox is known."""
        return station in self._mailbox

    def _sdo(self, station: int, body: bytes) -> bytes:
        """Exchange one SDO request; return the reply from its command byte on."""
        if station not in self._mailbox:
            raise BringUpError(f"slave {station:#06x}: it has no mailbox")
        out, out_size, back, back_size = self._mailbox[station]
        self._mailbox_counter = self._mailbox_counter % 7 + 1
        payload = struct.pack("<H", 2 << 12) + body
        header = struct.pack("<HHBB", len(payload), 0, 0, self._mailbox_counter << 4 | 3)
        # what a master before has asked for and not fetched
        self.access(FPRD, station, back, bytes(back_size))
        self.write(station, out, (header + payload).ljust(out_size, b"\0"))
        for _ in range(POLLS):
            data, wkc = self.access(FPRD, station, back, bytes(back_size))
            if wkc:
                break
            time.sleep(self._pause_s)
        else:
            raise BringUpError(f"slave {station:#06x}: the mailbox stays empty")
        size, kind = struct.unpack_from("<HxxxB", data)
        if kind & 0x0F != 3 or 6 + size > len(data) or (size < 10 and size != 3 + 7):
            raise BringUpError(f"slave {station:#06x}: no CoE in the mailbox ({data[:12].hex()})")
        reply = data[8 : 6 + size]
        if reply[0] == 0x80:
            code = int.from_bytes(reply[4:8], "little")
            index, sub = struct.unpack_from("<HB", body, 1)
            raise SdoAbortError(station, index, sub, code)
        return reply

    def upload(self, station: int, index: int, sub: int) -> bytes:
        """Read an object, in segments when it is larger than the mailbox."""
        reply = self._sdo(station, struct.pack("<BHBI", 0x40, index, sub, 0))
        if reply[0] & 2:
            return reply[4 : 8 - (reply[0] >> 2 & 3)]
        size = int.from_bytes(reply[4:8], "little")
        data = reply[8:]
        toggle = 0
        while len(data) < size:
            reply = self._sdo(station, struct.pack("<B7x", 0x60 | toggle << 4))
            unused = reply[0] >> 1 & 7
            data += reply[1 : len(reply) - unused]
            toggle ^= 1
            if reply[0] & 1:
                break
        return data[:size]

    def download(self, station: int, index: int, sub: int, value: int, size: int) -> None:
        """Write an object of at most four bytes."""
        command = 0x23 | (4 - size) << 2
        self._sdo(station, struct.pack("<BHBI", command, index, sub, value))

    def map_pdo(self, station: int, assign: int, mapping: int, entries: Sequence[PdoEntry]) -> None:
        """Map `entries` into one PDO and assign it alone."""
        for index, sub, value, size in pdo_downloads(assign, mapping, entries):
            self.download(station, index, sub, value, size)

    def state(self, station: int) -> tuple[int, int]:
        """Return AL status and AL status code."""
        status, code = struct.unpack("<HxxH", self.read(station, 0x0130, 6))
        return status, code

    def request(self, station: int, state: int) -> None:
        """Ask for an AL state, acknowledging an error."""
        self.write(station, 0x0120, struct.pack("<H", state | 0x10))

    def await_state(self, station: int, state: int) -> None:
        """Poll until the slave has the state.

        Raises
        ------
        BringUpError
            The slave refused (with its code in words) or stayed where it was.
        """
        for _ in range(POLLS):
            status, code = self.state(station)
            if status == state:
                return
            if status & 0x10:
                break
            time.sleep(self._pause_s)
        raise BringUpError(
            f"slave {station:#06x}: {words.al_state(state)} asked, it is in "
            f"{words.al_state(status)}, {words.al_code(code)}"
        )

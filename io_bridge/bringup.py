"""A small EtherCAT master for the in-process segment: from power-up to SAFEOP with real datagrams,
and to OP.

It is the counterpart of what pysoem does on a real interface, and like it is not part of the cycle.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from io_bridge import words
from io_bridge.drive_config import DriveConfig, PdoEntry, pdo_bytes
from io_bridge.frame import WireDatagram, build, parse
from io_bridge.pdo_layout import SlaveLayout, watchdog_registers
from io_bridge.sii import Identity, sync_managers

APRD, APWR, FPRD, FPWR, BRD, BWR = 1, 2, 4, 5, 7, 8
STATION = 0x1001
POLLS = 1000


class BringUpError(RuntimeError):
    """The segment could not be brought up; the message names slave, step and cause."""


class Master:
    """Acyclic master over a function that exchanges one frame.

    Parameters
    ----------
    transact : callable
        Takes a frame, returns the frame that came back or None.
    """

    def __init__(self, transact: Callable[[bytes], bytes | None]) -> None:
        self._transact = transact
        self._index = 0
        self._mailbox_counter = 0
        self._mailbox: dict[int, tuple[int, int, int, int]] = {}

    def access(self, command: int, address: int, register: int, data: bytes) -> tuple[bytes, int]:
        """Send one datagram; return its data and working counter."""
        self._index = (self._index + 1) % 0x80
        reply = self._transact(
            build([WireDatagram(command, self._index, register << 16 | address & 0xFFFF, data)])
        )
        if reply is None:
            raise BringUpError(f"no reply to command {command} at register {register:#06x}")
        back = parse(reply)[0]
        return back.data, back.wkc

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
        """Set sync managers 0 and 1 as the EEPROM says."""
        out, back = self.eeprom(station, 0x18), self.eeprom(station, 0x1A)
        self._mailbox[station] = (out & 0xFFFF, out >> 16, back & 0xFFFF, back >> 16)
        self.write(station, 0x0800, struct.pack("<HHBBBB", out & 0xFFFF, out >> 16, 0x26, 0, 1, 0))
        self.write(
            station, 0x0808, struct.pack("<HHBBBB", back & 0xFFFF, back >> 16, 0x22, 0, 1, 0)
        )

    def _sdo(self, station: int, body: bytes) -> bytes:
        """Exchange one SDO request; return the reply from its command byte on."""
        out, out_size, back, back_size = self._mailbox[station]
        self._mailbox_counter = self._mailbox_counter % 7 + 1
        payload = struct.pack("<H", 2 << 12) + body
        header = struct.pack("<HHBB", len(payload), 0, 0, self._mailbox_counter << 4 | 3)
        self.write(station, out, (header + payload).ljust(out_size, b"\0"))
        for _ in range(POLLS):
            data, wkc = self.access(FPRD, station, back, bytes(back_size))
            if wkc:
                break
        else:
            raise BringUpError(f"slave {station:#06x}: the mailbox stays empty")
        size, kind = struct.unpack_from("<HxxxB", data)
        if kind & 0x0F != 3 or 6 + size > len(data) or (size < 10 and size != 3 + 7):
            raise BringUpError(f"slave {station:#06x}: no CoE in the mailbox ({data[:12].hex()})")
        reply = data[8 : 6 + size]
        if reply[0] == 0x80:
            code = int.from_bytes(reply[4:8], "little")
            index, sub = struct.unpack_from("<HB", body, 1)
            raise BringUpError(
                f"slave {station:#06x}: SDO {index:#06x}:{sub} aborted: {words.sdo_abort(code)}"
            )
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
        raise BringUpError(
            f"slave {station:#06x}: {words.al_state(state)} asked, it is in "
            f"{words.al_state(status)}, {words.al_code(code)}"
        )


def pdo_downloads(
    assign: int, mapping: int, entries: Sequence[PdoEntry]
) -> list[tuple[int, int, int, int]]:
    """Return the (index, subindex, value, bytes) to write for one PDO with `entries`, in order."""
    return [
        (assign, 0, 0, 1),
        (mapping, 0, 0, 1),
        *(
            (mapping, i, index << 16 | sub << 8 | bits, 4)
            for i, (index, sub, bits) in enumerate(entries, 1)
        ),
        (mapping, 0, len(entries), 1),
        (assign, 1, mapping, 2),
        (assign, 0, 1, 1),
    ]


def check_identity(position: int, config: DriveConfig, found: Identity) -> list[str]:
    """Return what differs between the slave found and the one configured."""
    if config.identity is None:
        return []
    return [
        f"slave {position} ({config.name}): {field} {getattr(found, field):#x}, "
        f"the rig has {getattr(config.identity, field):#x}"
        for field in ("vendor", "product", "revision", "serial")
        if getattr(found, field) != getattr(config.identity, field)
        and not (field == "serial" and config.identity.serial == 0)
    ]


def to_safeop(master: Master, drives: Sequence[DriveConfig]) -> list[SlaveLayout]:
    """Bring every slave from power-up to SAFEOP and return where its process data lies.

    Raises
    ------
    BringUpError
        Wrong number of slaves, wrong identities (all of them named), or a refused step.
    """
    found = master.count()
    if found != len(drives):
        raise BringUpError(f"{found} slaves answer, the rig has {len(drives)}")
    master.access(BWR, 0, 0x0120, struct.pack("<H", 0x11))
    stations = [master.address(position) for position in range(found)]
    wrong = [
        line
        for position, station in enumerate(stations)
        for line in check_identity(position, drives[position], master.identity(station))
    ]
    if wrong:
        raise BringUpError("; ".join(wrong))
    layouts = []
    logical = 0
    for station, drive in zip(stations, drives, strict=True):
        master.set_mailbox(station)
        master.request(station, 2)
        master.await_state(station, 2)
        master.map_pdo(station, 0x1C12, 0x1600, drive.rx_pdo)
        master.map_pdo(station, 0x1C13, 0x1A00, drive.tx_pdo)
        n_out, n_in = pdo_bytes(drive.rx_pdo), pdo_bytes(drive.tx_pdo)
        layout = SlaveLayout(station, logical, n_out, logical + n_out, n_in)
        logical += n_out + n_in
        outputs, inputs = sync_managers(0)[2:]
        for number, (manager, size) in enumerate(((outputs, n_out), (inputs, n_in)), 2):
            row = struct.pack("<HHBBBB", manager.start, size, manager.control, 0, 1, 0)
            master.write(station, 0x0800 + 8 * number, row)
        for number, (start, size, physical, kind) in enumerate(
            (
                (layout.outputs_at, n_out, outputs.start, 2),
                (layout.inputs_at, n_in, inputs.start, 1),
            )
        ):
            row = struct.pack("<IHBBHBBBxxx", start, size, 0, 7, physical, 0, kind, 1)
            master.write(station, 0x0600 + 16 * number, row)
        for register, value in watchdog_registers(drive.watchdog_ms):
            master.write(station, register, struct.pack("<H", value))
        master.request(station, 4)
        master.await_state(station, 4)
        layouts.append(layout)
    return layouts

"""The description of an emulated device: identity, ports, mailbox, objects, PDOs."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from io_bridge.slaves.sii import COE_DETAILS, CONFIG, Identity, SiiPdo, SyncManager, sync_managers

TYPES = {
    "BOOL": (0x0001, 1),
    "INT8": (0x0002, 8),
    "INT16": (0x0003, 16),
    "INT32": (0x0004, 32),
    "UINT8": (0x0005, 8),
    "UINT16": (0x0006, 16),
    "UINT32": (0x0007, 32),
    "REAL32": (0x0008, 32),
    "INT24": (0x0010, 24),
    "REAL64": (0x0011, 64),
    "INT64": (0x0015, 64),
    "UINT24": (0x0016, 24),
    "UINT64": (0x001B, 64),
    **{f"BIT{n}": (0x0030 + n - 1, n) for n in range(2, 9)},
}
"""Name of a data type: its number in the information service, and its bits."""

TEXT = re.compile(r"(STRING|OCTETS)\((\d+)\)")
"""A text of a fixed number of bytes, or bytes alone."""

ACCESS = {"ro": 1, "wo": 2, "rw": 3, "preop": 1 | 4}
MAPPABLE = {"": 0, "rx": 8, "tx": 16, "rxtx": 24}
VARIABLE, ARRAY, RECORD = 7, 8, 9
PROCESS_DATA_START = 0x1000
NO_MANAGER = 0xFF
"""Sync manager of a PDO that is not assigned."""


@dataclass(frozen=True)
class Entry:
    """One value of an object.

    Attributes
    ----------
    sub : int
    type : str
        A key of `TYPES`, ``STRING(n)`` or ``OCTETS(n)``.
    name : str
    access : {"ro", "wo", "rw", "preop"}
        By SDO; "preop" may be written in PREOP only.
    pdo : {"", "rx", "tx", "rxtx"}
        Whether it may be mapped, and in which direction.
    value : int or str
        After power-up.
    """

    sub: int
    type: str
    name: str
    access: str = "ro"
    pdo: str = ""
    value: int | str = 0

    @property
    def type_code(self) -> int:
        text = TEXT.fullmatch(self.type)
        return {"STRING": 0x0009, "OCTETS": 0x000A}[text[1]] if text else TYPES[self.type][0]

    @property
    def bits(self) -> int:
        text = TEXT.fullmatch(self.type)
        return 8 * int(text[2]) if text else TYPES[self.type][1]


@dataclass(frozen=True)
class Object:
    """An object of the dictionary; several entries begin with their count at subindex 0."""

    index: int
    name: str
    entries: tuple[Entry, ...]
    code: int = RECORD


@dataclass(frozen=True)
class Pdo:
    """A PDO: (index, subindex, bits) of each entry, index 0 = padding; `room` for more of them if a
    master may map again; `assigned` after power-up."""

    index: int
    name: str
    entries: tuple[tuple[int, int, int], ...]
    room: int = 0
    assigned: bool = True


@dataclass(frozen=True)
class Description:
    """All that a master can learn of a device.

    Attributes
    ----------
    name : str
        In EEPROM and object 0x1008.
    identity : Identity
    ports : tuple of {"mii", "ebus", ""}
        Physics of ports 0 to 3.
    mailbox_bytes : int
        Of each of both mailboxes, from 48 on; 0 = no mailbox, the PDOs are in the EEPROM only.
    device_type : int
        Object 0x1000.
    objects : tuple of Object
        The device's own; those that every CoE device has come by themselves.
    rx_pdos, tx_pdos : tuple of Pdo
        To and from the device.
    assign : int
        PDOs that a master may assign in each direction.
    own_managers : tuple of SyncManager
        In place of the usual ones.
    coe_details : int
        Services of CoE, as the EEPROM says them.
    config : bytes
        First words of the EEPROM.
    """

    name: str
    identity: Identity
    ports: tuple[str, ...] = ("mii", "mii")
    mailbox_bytes: int = 0
    device_type: int = 0
    objects: tuple[Object, ...] = ()
    rx_pdos: tuple[Pdo, ...] = ()
    tx_pdos: tuple[Pdo, ...] = ()
    assign: int = field(default=0)
    own_managers: tuple[SyncManager, ...] = ()
    coe_details: int = COE_DETAILS
    config: bytes = CONFIG

    @property
    def managers(self) -> tuple[SyncManager, ...]:
        """Sync managers: its own, or with a mailbox the usual four; without, one for each direction there
        is."""
        if self.own_managers:
            return self.own_managers
        if self.mailbox_bytes:
            return sync_managers(self.mailbox_bytes)
        found, start = [], PROCESS_DATA_START
        for pdos, control, use in ((self.rx_pdos, 0x44, 3), (self.tx_pdos, 0x00, 4)):
            size = mapped_bytes(pdos)
            if size:
                found.append(SyncManager(start, size, control, use))
            start += 0x100
        return tuple(found)

    def manager_of(self, use: int) -> int:
        """Number of the sync manager for outputs (3) or inputs (4); -1 = none."""
        uses = [manager.use for manager in self.managers]
        return uses.index(use) if use in uses else -1

    def entry(self, index: int, sub: int) -> Entry | None:
        """Return the description of an entry, None when the object has no such entry."""
        for item in self.objects:
            if item.index == index:
                return next((entry for entry in item.entries if entry.sub == sub), None)
        return None

    def sii_pdos(self, pdos: tuple[Pdo, ...], use: int) -> tuple[SiiPdo, ...]:
        """Return the PDOs as the EEPROM of a device without mailbox lists them."""
        if self.mailbox_bytes:
            return ()
        return tuple(
            SiiPdo(
                pdo.index,
                self.manager_of(use) if pdo.assigned else NO_MANAGER,
                pdo.name,
                tuple(self._sii_entry(*entry) for entry in pdo.entries),
            )
            for pdo in pdos
        )

    def _sii_entry(self, index: int, sub: int, bits: int) -> tuple[int, int, int, int, str]:
        entry = self.entry(index, sub)
        return (index, sub, entry.type_code if entry else 0, bits, entry.name if entry else "")


def mapped_bytes(pdos: tuple[Pdo, ...]) -> int:
    """Return the bytes of the PDOs that are assigned."""
    return (sum(bits for pdo in pdos if pdo.assigned for _, _, bits in pdo.entries) + 7) // 8


def array(index: int, name: str, type: str, values: tuple[int, ...], access: str) -> Object:
    """Return an array: a count, which may be written like the elements, and the elements."""
    count = Entry(0, "UINT8", "SubIndex 000", access, value=len(values))
    rows = (Entry(i, type, f"SubIndex {i:03d}", access, value=v) for i, v in enumerate(values, 1))
    return Object(index, name, (count, *rows), ARRAY)


def variable(index: int, name: str, type: str, value: int | str = 0, **more: str) -> Object:
    """Return an object of one value."""
    return Object(index, name, (Entry(0, type, name, value=value, **more),), VARIABLE)


def assignment(index: int, name: str, pdos: tuple[Pdo, ...], room: int) -> Object:
    """Return 0x1C12 or 0x1C13."""
    given = tuple(pdo.index for pdo in pdos if pdo.assigned)
    found = array(
        index, name, "UINT16", given + (0,) * (room - len(given)), "preop" if room else "ro"
    )
    return _counted(found, len(given))


def mapping(pdo: Pdo) -> Object:
    """Return the mapping object of a PDO."""
    words = tuple(index << 16 | sub << 8 | bits for index, sub, bits in pdo.entries)
    words += (0,) * (pdo.room - len(words))
    found = array(pdo.index, pdo.name, "UINT32", words, "preop" if pdo.room else "ro")
    return _counted(found, len(pdo.entries))


def _counted(item: Object, count: int) -> Object:
    first = item.entries[0]
    head = Entry(0, first.type, first.name, first.access, value=count)
    return Object(item.index, item.name, (head, *item.entries[1:]), item.code)


def all_objects(device: Description) -> list[Object]:
    """Return the whole dictionary by rising index; without a mailbox only the objects that process data need.

    Objects of the device replace those that every CoE device has.
    """
    own = list(device.objects)
    pdos = [mapping(pdo) for pdo in (*device.rx_pdos, *device.tx_pdos)]
    own += pdos
    own.append(assignment(0x1C12, "RxPDO assign", device.rx_pdos, device.assign))
    own.append(assignment(0x1C13, "TxPDO assign", device.tx_pdos, device.assign))
    if device.mailbox_bytes:
        who = device.identity
        numbers = zip(
            ("Vendor ID", "Product code", "Revision", "Serial number"),
            (who.vendor, who.product, who.revision, who.serial),
            strict=True,
        )
        common = [
            variable(0x1000, "Device type", "UINT32", device.device_type),
            variable(0x1001, "Error register", "UINT8"),
            variable(0x1008, "Device name", f"STRING({len(device.name)})", device.name),
            variable(0x1009, "Hardware version", "STRING(8)", "emulated"),
            variable(0x100A, "Software version", "STRING(1)", "1"),
            Object(
                0x1018,
                "Identity",
                (
                    Entry(0, "UINT8", "SubIndex 000", value=4),
                    *(Entry(i, "UINT32", n, value=v) for i, (n, v) in enumerate(numbers, 1)),
                ),
            ),
            array(
                0x1C00, "Sync manager type", "UINT8", tuple(m.use for m in device.managers), "ro"
            ),
        ]
        there = {item.index for item in own}
        own += [item for item in common if item.index not in there]
    return sorted(own, key=lambda item: item.index)

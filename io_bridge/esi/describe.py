"""From an ESI to an emulated device: its contents become objects, PDOs and an EEPROM image."""

from __future__ import annotations

from dataclasses import replace

from io_bridge.esi.data_types import type_of
from io_bridge.esi.document import EsiError, ascii_of
from io_bridge.esi.model import CoeServices, EsiDevice, EsiEntry, EsiPdo
from io_bridge.slaves.device_description import (
    RECORD,
    VARIABLE,
    Description,
    Entry,
    Object,
    Pdo,
)
from io_bridge.slaves.sii import CONFIG
from rig_configs.slaves import MOST_ENTRIES

MOST_MANAGERS = 4
MOST_MAPPED = 256
RAM_FIRST, RAM_END = 0x0F00, 0x3000
"""Addresses open to sync managers: output data of devices without processor, and the process data RAM."""
LEAST_MAILBOX, MOST_MAILBOX = 48, 1486
MOST_ASSIGNED = 16
ROOM = 16
MADE_ANEW = {0x1018, 0x1C00, 0x1C12, 0x1C13}
"""Objects that follow from the rest."""


def describe(device: EsiDevice) -> Description:
    """Return the description of an emulated device, which has values and does nothing.

    Raises
    ------
    EsiError
        The emulator cannot be such a device; every reason.
    """
    bad = [*_bad_managers(device), *_bad_sizes(device)]
    if bad:
        raise EsiError("\n".join(f"{device.type or device.name}: {line}" for line in bad))
    objects = _objects(device)
    size = next((m.size for m in device.managers if m.use == 1), 0)
    coe = device.coe or CoeServices()
    return Description(
        name=ascii_of(device.name) or "?",
        identity=device.identity,
        ports=device.ports,
        mailbox_bytes=size if device.coe else 0,
        device_type=device.device_type,
        objects=tuple(objects[index] for index in sorted(objects)),
        rx_pdos=tuple(_pdo(pdo, coe, device) for pdo in device.rx_pdos),
        tx_pdos=tuple(_pdo(pdo, coe, device) for pdo in device.tx_pdos),
        assign=_assign(device) if coe.pdo_assign else 0,
        own_managers=device.managers,
        coe_details=_details(coe),
        config=device.config or CONFIG,
    )


def _details(coe: CoeServices) -> int:
    flags = (True, coe.sdo_info, coe.pdo_assign, coe.pdo_config, coe.upload, coe.complete_access)
    return sum(1 << i for i, flag in enumerate(flags) if flag)


def _assign(device: EsiDevice) -> int:
    """Return the number of PDOs that can be assigned: the room of the dictionary, where it has the objects."""
    given = [item for item in device.objects if item.index in (0x1C12, 0x1C13)]
    free = [len(item.entries) - 1 for item in given if item.entries[0].access != "ro"]
    return max(free, default=0 if given else MOST_ASSIGNED)


def _bad_managers(device: EsiDevice) -> list[str]:
    bad = []
    managers = device.managers
    uses = [manager.use for manager in managers]
    if len(managers) > MOST_MANAGERS:
        bad.append(f"{len(managers)} sync managers; the emulator has {MOST_MANAGERS}")
    for use, what in ((1, "MBoxOut"), (2, "MBoxIn"), (3, "Outputs"), (4, "Inputs")):
        if uses.count(use) > 1:
            bad.append(f"{uses.count(use)} sync managers for {what}; the emulator has one")
    for i, manager in enumerate(managers):
        if manager.use and not RAM_FIRST <= manager.start <= RAM_END - manager.size:
            bad.append(
                f"Sm {i}: {manager.size} bytes at {manager.start:#06x}; within {RAM_FIRST:#06x} to {RAM_END - 1:#06x}"
            )
    if device.coe is None:
        if 1 in uses or 2 in uses:
            bad.append("a mailbox without CoE; the emulator supports only CoE")
        return bad
    if uses[:2] != [1, 2] or 3 in uses[3:] or 4 in uses[:3]:
        bad.append(
            "with CoE the emulator has MBoxOut, MBoxIn, Outputs, Inputs in sync managers 0 to 3"
        )
    for manager in managers[:2]:
        if not LEAST_MAILBOX <= manager.size <= MOST_MAILBOX:
            bad.append(
                f"mailbox of {manager.size} bytes; {LEAST_MAILBOX} to {MOST_MAILBOX} are possible"
            )
    return bad


def _bad_sizes(device: EsiDevice) -> list[str]:
    bad = []
    for what, pdos in (("RxPdo", device.rx_pdos), ("TxPdo", device.tx_pdos)):
        mapped = sum(len(pdo.entries) for pdo in pdos if pdo.manager is not None)
        if mapped > MOST_MAPPED:
            bad.append(f"{mapped} entries of {what} assigned; the emulator maps {MOST_MAPPED}")
        bad += [
            f"{what} {pdo.index:#06x}: {len(pdo.entries)} entries; at most {MOST_ENTRIES}"
            for pdo in pdos
            if len(pdo.entries) > MOST_ENTRIES
        ]
    return bad


def _pdo(pdo: EsiPdo, coe: CoeServices, device: EsiDevice) -> Pdo:
    """The dictionary's mapping object says how many entries there is room for."""
    given = next((item for item in device.objects if item.index == pdo.index), None)
    room = len(given.entries) - 1 if given is not None else ROOM
    free = coe.pdo_config and not pdo.fixed
    return Pdo(
        pdo.index,
        ascii_of(pdo.name),
        pdo.mapped,
        max(room, len(pdo.entries)) if free else 0,
        pdo.manager is not None,
    )


def _objects(device: EsiDevice) -> dict[int, Object]:
    """The dictionary's objects, and those that only PDOs name."""
    taken = MADE_ANEW | {pdo.index for pdo in (*device.rx_pdos, *device.tx_pdos)}
    given = {item.index: item for item in device.objects if item.index not in taken}
    found = dict(given)
    for way, pdos in (("rx", device.rx_pdos), ("tx", device.tx_pdos)):
        for entry in (entry for pdo in pdos for entry in pdo.entries if entry.index):
            found[entry.index] = _with(found.get(entry.index), entry, way)
    return {index: item if index in given else _counted(item) for index, item in found.items()}


def _with(item: Object | None, mapped: EsiEntry, way: str) -> Object:
    """The object with an entry that can be mapped that way; the size is that of the PDO, which is what
    goes over the wire."""
    entries = {} if item is None else {entry.sub: entry for entry in item.entries}
    old = entries.get(mapped.sub)
    if old is None or old.bits != mapped.bits:
        kind = type_of(mapped.type, mapped.bits)
        if kind is None:
            raise EsiError(
                f"PDO entry {mapped.index:#06x}:{mapped.sub}: {mapped.bits} bits of type {mapped.type!r}"
            )
        access = "rw" if way == "rx" else "ro"
        old = Entry(mapped.sub, kind, ascii_of(mapped.name), access)
    pdo = old.pdo if way in old.pdo else "rxtx" if old.pdo else way
    entries[mapped.sub] = replace(old, pdo=pdo)
    name = item.name if item else ascii_of(mapped.name)
    code = RECORD if item is None else item.code
    if len(entries) > 1 and code == VARIABLE:
        code = RECORD
    return Object(mapped.index, name, tuple(entries[sub] for sub in sorted(entries)), code)


def _counted(item: Object) -> Object:
    """An object that only PDOs name: a variable, or a record with its count."""
    if item.entries[-1].sub == 0:
        return replace(item, code=VARIABLE)
    count = Entry(0, "UINT8", "SubIndex 000", value=item.entries[-1].sub)
    rows = tuple(entry for entry in item.entries if entry.sub)
    return replace(item, entries=(count, *rows))

"""Slaves of a wire beside what their vendors' ESI files say: names, and where a slave says otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from io_bridge.attendant.scan import FoundSlave
from io_bridge.esi.library import Library
from io_bridge.esi.model import EsiDevice, EsiPdo
from io_bridge.slaves.sii import Identity
from io_bridge.slaves.sii_contents import SiiPdo
from io_bridge.slaves.state_limits import STANDARD, StateLimits

NO_MANAGER = 0xFF
CLOCK = 0x0300
"""Bits of AssignActivate that switch SYNC0 on."""


@dataclass(frozen=True)
class Known:
    """The ESI of a slave, and where the slave says otherwise."""

    device: EsiDevice
    notes: tuple[str, ...]

    def name_of(self, index: int, sub: int) -> tuple[str, str]:
        """Return name and type of an object that can be mapped; empty where the ESI has none."""
        entry = self.device.entry(index, sub)
        if entry is not None:
            return entry.name, entry.type
        for item in self.device.objects:
            if item.index == index:
                return next(((e.name, e.type) for e in item.entries if e.sub == sub), ("", ""))
        return "", ""


def open_library(path: Path) -> Library:
    """Open the ESI files of a path.

    Raises
    ------
    EsiError
        There are no such files.
    """
    return Library([path])


def limits_of(library: Library, who: Identity) -> StateLimits:
    """Return how long a slave may take, by its ESI."""
    device = library.find(who.vendor, who.product, who.revision)
    return STANDARD if device is None else device.limits


def look_up(slaves: Sequence[FoundSlave], library: Library) -> tuple[list[Known | None], list[str]]:
    """Return what ESI files know of each slave, and what is wrong with the files."""
    found: list[Known | None] = []
    for slave in slaves:
        who = slave.identity
        device = library.find(who.vendor, who.product, who.revision)
        if device is None:
            slave.no_esi = library.why_not(who.vendor, who.product)
            found.append(None)
        else:
            found.append(Known(device, tuple(differences(slave, device))))
    return found, library.mistakes


def differences(slave: FoundSlave, device: EsiDevice) -> list[str]:
    """Return a line for each thing that the slave says otherwise than its ESI."""
    found = []
    if slave.identity.revision != device.identity.revision:
        found.append(
            f"revision {slave.identity.revision:#010x}; the ESI has {device.identity.revision:#010x}"
        )
    if slave.has_coe != (device.coe is not None):
        says = ("no", "yes")[slave.has_coe], ("no", "yes")[device.coe is not None]
        found.append(f"mailbox with CoE: {says[0]}; the ESI says {says[1]}")
    if any(mode.activate & CLOCK for mode in device.clock_modes) and not slave.has_clock:
        found.append("no distributed clock; the ESI has modes of one")
    for way, mapped, pdos in (
        ("outputs", slave.outputs, device.rx_pdos),
        ("inputs", slave.inputs, device.tx_pdos),
    ):
        if not slave.note:
            found += _pdo_differences(way, mapped, pdos)
    return found


def _pdo_differences(way: str, mapped: list[SiiPdo], pdos: tuple[EsiPdo, ...]) -> list[str]:
    found = []
    assigned = [pdo for pdo in mapped if pdo.manager != NO_MANAGER]
    usual = {pdo.index for pdo in pdos if pdo.manager is not None}
    if {pdo.index for pdo in assigned} != usual:
        found.append(
            f"{way}: assigned {_list(pdo.index for pdo in assigned)}; after power-up, says the ESI, {_list(usual)}"
        )
    by_index = {pdo.index: pdo for pdo in pdos}
    for pdo in mapped:
        esi = by_index.get(pdo.index)
        if esi is None:
            found.append(f"{way}: PDO {pdo.index:#06x} is not in the ESI")
        elif pdo.entries != esi.mapped:
            found.append(
                f"{way}: PDO {pdo.index:#06x} maps {_entries(pdo.entries)}; the ESI has {_entries(esi.mapped)}"
            )
    return found


def _list(indices: Iterable[int]) -> str:
    return " ".join(f"{index:#06x}" for index in sorted(indices)) or "none"


def _entries(entries: tuple[tuple[int, int, int], ...]) -> str:
    return " ".join(f"{index:#06x}:{sub}/{bits}" for index, sub, bits in entries) or "nothing"

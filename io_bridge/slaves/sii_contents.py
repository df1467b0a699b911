"""Contents of a slave's EEPROM: name, mailbox, sync managers and PDOs (ETG.2010)."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field

from io_bridge.slaves.sii import SyncManager

CATEGORIES = 0x40
STRINGS, GENERAL, MANAGERS, TX_PDO, RX_PDO, END = 10, 30, 41, 50, 51, 0xFFFF
LAST_WORD = 0x2000
COE = 0x04


@dataclass(frozen=True)
class SiiPdo:
    """One PDO of the EEPROM: objects are (index, subindex, bits); index 0 is padding."""

    index: int
    manager: int
    name: str
    entries: tuple[tuple[int, int, int], ...]

    @property
    def bits(self) -> int:
        return sum(entry[2] for entry in self.entries)


@dataclass
class SiiContents:
    """The part of an EEPROM that a master needs."""

    mailbox_bytes: tuple[int, int] = (0, 0)
    mailbox_starts: tuple[int, int] = (0, 0)
    protocols: int = 0
    strings: list[str] = field(default_factory=list)
    name_number: int = 0
    managers: tuple[SyncManager, ...] = ()
    inputs: list[SiiPdo] = field(default_factory=list)
    outputs: list[SiiPdo] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Device name, or nothing."""
        return self.text(self.name_number)

    def text(self, number: int) -> str:
        """Return a string of the EEPROM by its number, from 1; 0 means no string."""
        return self.strings[number - 1] if 0 < number <= len(self.strings) else ""

    @property
    def has_coe(self) -> bool:
        return bool(self.mailbox_bytes[0]) and bool(self.protocols & COE)

    @property
    def output_bytes(self) -> int:
        """Process data to the slave, by its PDOs, else by its sync manager."""
        return self._bytes(self.outputs, 3)

    @property
    def input_bytes(self) -> int:
        return self._bytes(self.inputs, 4)

    def _bytes(self, pdos: list[SiiPdo], use: int) -> int:
        by_pdo = (sum(pdo.bits for pdo in pdos if pdo.manager < len(self.managers)) + 7) // 8
        by_manager = sum(manager.size for manager in self.managers if manager.use == use)
        return by_pdo or by_manager


def read_contents(read: Callable[[int], int]) -> SiiContents:
    """Walk the categories of an EEPROM.

    Parameters
    ----------
    read : callable
        From a word address to the two words there, as one number.
    """
    found = SiiContents()
    out, back = read(0x18), read(0x1A)
    found.mailbox_bytes = (out >> 16, back >> 16)
    found.mailbox_starts = (out & 0xFFFF, back & 0xFFFF)
    found.protocols = read(0x1C) & 0xFFFF
    at = CATEGORIES
    while at < LAST_WORD:
        kind, words = struct.unpack("<HH", read(at).to_bytes(4, "little"))
        # a damaged one says anything
        words = min(words, LAST_WORD - at)
        if kind == END:
            break
        if kind in (STRINGS, GENERAL, MANAGERS, TX_PDO, RX_PDO):
            body = b"".join(read(at + 2 + i).to_bytes(4, "little") for i in range(0, words, 2))[
                : 2 * words
            ]
            _take(found, kind, body)
        at += 2 + words
    return found


def _take(found: SiiContents, kind: int, body: bytes) -> None:
    if kind == STRINGS:
        at = 1
        for _ in range(body[0] if body else 0):
            if at >= len(body):
                break
            found.strings.append(body[at + 1 : at + 1 + body[at]].decode("ascii", "replace"))
            at += 1 + body[at]
    elif kind == GENERAL and len(body) > 3:
        found.name_number = body[3]
    elif kind == MANAGERS:
        found.managers = tuple(
            SyncManager(start, size, control, use)
            for start, size, control, _, enable, use in struct.iter_unpack(
                "<HHBBBB", body[: len(body) // 8 * 8]
            )
        )
    else:
        (found.inputs if kind == TX_PDO else found.outputs).extend(_pdos(found, body))


def _pdos(found: SiiContents, body: bytes) -> list[SiiPdo]:
    pdos = []
    at = 0
    while at + 8 <= len(body):
        index, n, manager, _, name, _ = struct.unpack_from("<HBBBBH", body, at)
        at += 8
        entries = []
        for _ in range(n):
            if at + 8 > len(body):
                break
            obj, sub, _, _, bits, _ = struct.unpack_from("<HBBBBH", body, at)
            entries.append((obj, sub, bits))
            at += 8
        pdos.append(SiiPdo(index, manager, found.text(name), tuple(entries)))
    return pdos

"""Sync managers of one direction: most slaves have one, some have several, each with PDOs of its own.

Their process data lie one after the other in the order of the managers, each from a whole byte on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from io_bridge.slaves.drive_config import PdoEntry
from io_bridge.slaves.sii_contents import SiiContents, SiiPdo

MOST_MANAGERS = 16
ASSIGN = 0x1C10
"""Object that has the PDOs of sync manager 0; those of the others follow."""


def managers_of(contents: SiiContents, use: int) -> tuple[int, ...]:
    """Return the numbers of the sync managers of a direction (3: outputs, 4: inputs), the usual one where the EEPROM
    is silent."""
    rows = contents.managers[:MOST_MANAGERS]
    found = tuple(n for n, row in enumerate(rows) if row.use == use)
    return found or (use - 1,)


def in_order(pdos: Iterable[SiiPdo], numbers: Sequence[int]) -> tuple[SiiPdo, ...]:
    """Return PDOs in the order of their sync managers; with one manager it has all of them, whatever they say."""
    if len(numbers) == 1:
        return tuple(replace(pdo, manager=numbers[0]) for pdo in pdos)
    return tuple(sorted(pdos, key=lambda pdo: pdo.manager))


def entries_of(pdos: Sequence[SiiPdo]) -> tuple[PdoEntry, ...]:
    """Return the objects of several PDOs, one after the other, padded to a whole byte where the next sync manager
    begins."""
    found: list[PdoEntry] = []
    bits = 0
    for i, pdo in enumerate(pdos):
        if i and pdo.manager != pdos[i - 1].manager and bits % 8:
            found.append((0, 0, -bits % 8))
            bits += -bits % 8
        found += pdo.entries
        bits += pdo.bits
    return tuple(found)


def bytes_of(pdos: Sequence[SiiPdo], number: int) -> int:
    """Return the bytes that one sync manager has."""
    return (sum(pdo.bits for pdo in pdos if pdo.manager == number) + 7) // 8

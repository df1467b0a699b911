"""The present PDO mapping of a slave, read through its mailbox."""

from __future__ import annotations

from collections.abc import Callable

from io_bridge.slaves.sii_contents import SiiPdo

Upload = Callable[[int, int], bytes]
"""From index and subindex to the object's data."""


def mapped_pdos(upload: Upload, assign: int, manager: int) -> list[SiiPdo]:
    """Read the PDOs that an assignment object names, and the objects mapped into them."""
    pdos = []
    for i in range(_count(upload, assign)):
        index = int.from_bytes(upload(assign, i + 1), "little")
        if not index:
            continue
        entries = []
        for j in range(_count(upload, index)):
            word = int.from_bytes(upload(index, j + 1), "little")
            entries.append((word >> 16, word >> 8 & 0xFF, word & 0xFF))
        pdos.append(SiiPdo(index, manager, "", tuple(entries)))
    return pdos


def _count(upload: Upload, index: int) -> int:
    """Return the number of subindices of an object after subindex 0; 0 where that one is empty."""
    return int.from_bytes(upload(index, 0)[:1], "little")

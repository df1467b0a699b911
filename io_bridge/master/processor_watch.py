"""Watch that a slave's processor still serves its EtherCAT controller, by the PDI watchdog (0x0410).

A controller answers frames, counts them right and drives its clock without its processor; inputs are then old, and
mailbox and AL state stand still. The watchdog itself is left as the slave's maker has set it: it guards the maker's
processor and not the master, and only the maker knows its effects.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from io_bridge.slaves.errors import BringUpError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Exchange = Callable[[Sequence[tuple[int, int, int, bytes]]], list[tuple[bytes, int]]]

FPRD = 4
DL_STATUS, PDI_CONTROL, PDI_WATCHDOG, EXPIRED = 0x0110, 0x0140, 0x0410, 0x0443
SERVED = 0x02
"""Bit of DL status: the processor answered within the time of the watchdog."""
PROCESSORS = (0x05, 0x08, 0x09, 0x0A, 0x0B, 0x80)
"""Values of PDI control with a processor: SPI, a bus of 8 or 16 bits, on the chip; a digital terminal has none."""


def questions(station: int) -> list[tuple[int, int, int, bytes]]:
    """Return the datagrams that ask one slave."""
    sizes = ((DL_STATUS, 2), (PDI_CONTROL, 1), (PDI_WATCHDOG, 2), (EXPIRED, 1))
    return [(FPRD, station, register, bytes(size)) for register, size in sizes]


def is_silent(answers: Sequence[tuple[bytes, int]]) -> int:
    """Return how often the watchdog has expired where the processor is silent now; 0 where it is not, or none is
    known to be."""
    if any(not wkc for _, wkc in answers):
        return 0
    (status,) = struct.unpack("<H", answers[0][0])
    kind, watchdog, expired = (int.from_bytes(data, "little") for data, _ in answers[1:])
    if status & SERVED or kind not in PROCESSORS or not watchdog:
        return 0
    return expired


def processor_words(expired: int) -> str:
    """Return the meaning, and the remedy."""
    return (
        f"its own processor no longer serves its EtherCAT controller (PDI watchdog expired, {expired} times since "
        "power-up, register 0x0443): its data are old; switch it off and on, and if this recurs check its "
        "supply and firmware"
    )


def why_silent(exchange: Exchange, station: int) -> str:
    """Return that a slave's processor is silent, as the end of a sentence; nothing where it is not, or is not known."""
    try:
        expired = is_silent(exchange(questions(station)))
    except BringUpError:
        return ""
    return f"; {processor_words(expired)}" if expired else ""

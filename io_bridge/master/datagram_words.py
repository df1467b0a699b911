"""Words for the task of a frame: the slave, the registers, reading or writing (ETG.1000.4)."""

from __future__ import annotations

from collections.abc import Callable

POSITIONAL, BROADCAST = (1, 2, 3, 13), (7, 8, 9)
READS, WRITES = (1, 4, 7, 10), (2, 5, 8, 11)
RAM = 0x1000
REGISTERS = (
    (0x0000, "what its controller can do"),
    (0x0010, "its station address"),
    (0x0100, "its ports"),
    (0x0120, "the state that is asked of it"),
    (0x0130, "its AL state"),
    (0x0140, "how its processor is connected"),
    (0x0200, "its interrupts and error counters"),
    (0x0400, "its watchdogs"),
    (0x0500, "its EEPROM"),
    (0x0600, "its FMMUs"),
    (0x0800, "its sync managers"),
    (0x0900, "its clock"),
    (RAM, "its mailbox or process data"),
)
"""From each address on."""


def register_words(register: int) -> str:
    """Return the name of a register: ``its AL state (register 0x0130)``."""
    what = next(words for first, words in reversed(REGISTERS) if register >= first)
    return f"{what} ({'address' if register >= RAM else 'register'} {register:#06x})"


def asked_words(
    command: int, address: int, register: int, called: Callable[[int], str], first_station: int
) -> str:
    """Return the slave and the task of a datagram: ``slave 0 (wheel): the frame that was to read its AL state
    (register 0x0130)``.

    Parameters
    ----------
    called : callable
        From a station to the name of its slave in messages.
    first_station : int
        Station of the slave at place 0.
    """
    if command in BROADCAST:
        who = "all slaves"
    elif command in POSITIONAL:
        who = called(first_station + (-address & 0xFFFF))
    else:
        who = called(address)
    does = "read" if command in READS else "write" if command in WRITES else "read and write"
    return f"{who}: the frame that was to {does} {register_words(register)}"

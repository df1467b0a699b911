"""Distributed clocks of single slaves: offset to the reference, difference, SYNC0."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from io_bridge.master.master import FPRD, BringUpError, Master
from io_bridge.slaves.clock_config import ClockConfig
from io_bridge.slaves.pdo_layout import SlaveRecord

SYSTEM_TIME, OFFSET, DELAY, DIFFERENCE, SPEED_START = 0x0910, 0x0920, 0x0928, 0x092C, 0x0930
SYNC_CONTROL, SYNC_START, SYNC0_CYCLE = 0x0980, 0x0990, 0x09A0
SYNC0_LEAD_NS = 100_000_000
"""From now to the first SYNC0: longer than the way to the slave takes."""


def reference(records: Sequence[SlaveRecord]) -> int:
    """Return the station of the reference clock, the first slave that has one; 0: none has."""
    return next((r.layout.station for r in records if r.layout.has_clock), 0)


def set_offset(master: Master, station: int, reference_station: int) -> None:
    """Set a slave's clock by the reference; both are read as one frame passes them."""
    if station == reference_station:
        return
    master.write(station, OFFSET, bytes(8))
    (there, got), (here, got_here) = master.exchange(
        [(FPRD, who, SYSTEM_TIME, bytes(8)) for who in (reference_station, station)]
    )
    if not got or not got_here:
        raise BringUpError(f"slave {station:#06x}: its clock cannot be read")
    offset = int.from_bytes(there, "little") - int.from_bytes(here, "little")
    master.write(station, OFFSET, struct.pack("<Q", offset % (1 << 64)))
    # a write starts the drift loop again
    master.write(station, SPEED_START, struct.pack("<H", 0x1000))


def align(master: Master, records: Sequence[SlaveRecord]) -> list[SlaveRecord]:
    """Set every clock by the first one."""
    first = reference(records)
    for record in records:
        if record.layout.has_clock:
            set_offset(master, record.layout.station, first)
    return list(records)


def difference_ns(master: Master, station: int) -> int:
    """Return a slave's system time minus that of the reference, as its drift loop sees it."""
    raw = int.from_bytes(master.read(station, DIFFERENCE, 4), "little")
    return -(raw & 0x7FFFFFFF) if raw >> 31 else raw


def start_sync0(master: Master, station: int, clock: ClockConfig) -> None:
    """Have the slave give SYNC0 at the period of the cycle, from a moment ahead on."""
    master.write(station, SYNC_CONTROL, bytes(2))
    now = int.from_bytes(master.read(station, SYSTEM_TIME, 8), "little")
    periods = (now + SYNC0_LEAD_NS) // clock.period_ns + 1
    start = periods * clock.period_ns + clock.sync0_shift_ns % clock.period_ns
    master.write(station, SYNC_START, struct.pack("<Q", start % (1 << 64)))
    master.write(station, SYNC0_CYCLE, struct.pack("<I", clock.period_ns))
    master.write(station, SYNC_CONTROL, bytes([0, 0x03]))

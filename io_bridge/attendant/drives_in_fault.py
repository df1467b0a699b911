"""Drives that wake up in their fault state: which they are, and why, as they say it themselves."""

from __future__ import annotations

from collections.abc import Sequence

from io_bridge.exchange.exchange import Exchange
from io_bridge.master.diagnosis import ERROR_CODE
from io_bridge.master.master import Master
from io_bridge.slaves import words
from io_bridge.slaves.cia402 import drive_state
from io_bridge.slaves.errors import BringUpError
from io_bridge.slaves.moving_objects import AXIS_STEP
from io_bridge.slaves.pdo_layout import SlaveRecord, axes_of

FAULT_STATES = ("fault reaction active", "fault")


def drives_in_fault(
    exchange: Exchange, master: Master, records: Sequence[SlaveRecord]
) -> list[str]:
    """Return a sentence for each drive that is in its fault state by its last statusword."""
    stations = {
        slave.name: (place, record.layout.station)
        for place, (group, record) in enumerate(zip(axes_of(exchange.slaves), records, strict=True))
        for slave in group
    }
    found = []
    for i, drive in enumerate(exchange.drives):
        statusword = exchange.drive_status(i)[2]
        state = words.DRIVE_STATES[drive_state(statusword)]
        if state in FAULT_STATES:
            place, station = stations[drive.name]
            index = ERROR_CODE + AXIS_STEP * drive.axis
            found.append(
                f"slave {place} ({drive.name}): {state} (statusword {statusword:#06x}), "
                f"{index:#06x}: {_error_code(master, station, index)}"
            )
    return found


def _error_code(master: Master, station: int, index: int) -> str:
    try:
        return words.drive_error(int.from_bytes(master.upload(station, index, 0)[:2], "little"))
    except BringUpError as error:
        return f"cannot be read: {error}"

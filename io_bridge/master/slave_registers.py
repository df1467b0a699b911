"""Registers that a slave's EEPROM and process data ask for: sync managers, FMMUs, watchdogs."""

from __future__ import annotations

import logging
import struct
from collections.abc import Sequence
from typing import NamedTuple

from io_bridge.master.manager_pieces import MOST_MANAGERS, bytes_of, entries_of
from io_bridge.master.master import Master
from io_bridge.master.process_data import IN, OUT, ProcessData
from io_bridge.master.survey import Surveyed
from io_bridge.slaves.drive_config import pdo_bytes
from io_bridge.slaves.errors import BringUpError
from io_bridge.slaves.pdo_layout import SlaveLayout, SlaveRecord, fmmu_rows, watchdog_registers
from io_bridge.slaves.sii import SyncManager
from io_bridge.slaves.sii_contents import SiiContents, SiiPdo

log = logging.getLogger("rigloop.bus")

MAILBOX_BYTES = 16
"""Registers of the two sync managers of a mailbox, from 0x0800."""
MAILBOX_CONTROL = {1: 0x26, 2: 0x22}
PROCESS_CONTROL = {OUT: 0x64, IN: 0x20}
LEAST_MANAGERS = 4
"""Number of registers that are written at least: settings of an earlier master are then off."""
USUAL_FMMUS = 2
USUAL_START, PLACE_STEP = 0x1100, 0x80


class Place(NamedTuple):
    """Place of one direction in the slave: number of its sync manager, start and control byte."""

    number: int
    start: int
    control: int


def mailbox_rows(contents: SiiContents) -> bytes:
    """Return the registers of sync managers 0 and 1, enabled whatever the EEPROM's table says; nothing without
    a mailbox."""
    if not contents.mailbox_bytes[0]:
        return b""
    rows = b""
    for use, start, size in zip(
        (1, 2), contents.mailbox_starts, contents.mailbox_bytes, strict=True
    ):
        # some EEPROMs leave the size of the answer out
        size = size or contents.mailbox_bytes[0]
        control = next((m.control for m in contents.managers if m.use == use), 0)
        if control & 0x0F != MAILBOX_CONTROL[use] & 0x0F:
            control = MAILBOX_CONTROL[use]
        rows += struct.pack("<HHBBBB", start, size, control, 0, 1, 0)
    return rows


def places(master: Master, slave: Surveyed) -> dict[int, list[Place]]:
    """Return where outputs (3) and inputs (4) lie: by the EEPROM, or where it is silent by the controller."""
    rows: list[SyncManager] = list(slave.contents.managers[:MOST_MANAGERS])
    if not any(row.use in (OUT, IN) for row in rows):
        registers = master.read(slave.station, 0x0800, 8 * LEAST_MANAGERS)
        first = 2 if slave.contents.mailbox_bytes[0] else 0
        rows = [
            SyncManager(start, size, control, 0 if i < first else OUT if control & 4 else IN)
            for i, (start, size, control) in enumerate(struct.iter_unpack("<HHBxxx", registers))
        ]
    found: dict[int, list[Place]] = {}
    for number, row in enumerate(rows):
        if row.use in (OUT, IN) and row.start:
            right = row.control & 0x03 == 0
            place = Place(number, row.start, row.control if right else PROCESS_CONTROL[row.use])
            found.setdefault(row.use, []).append(place)
    return found


def _usual_place(slave: Surveyed, use: int, where: dict[int, list[Place]], n_out: int) -> Place:
    """Return where process data lie by custom: after the mailboxes, inputs after the three buffers of the
    outputs. A slave that has them elsewhere refuses SAFEOP."""
    starts, lengths = slave.contents.mailbox_starts, slave.contents.mailbox_bytes
    ends = [start + length for start, length in zip(starts, lengths, strict=True) if length]
    if OUT in where:
        ends.append(where[OUT][-1].start + 3 * n_out)
    first = -(-max([USUAL_START, *ends]) // PLACE_STEP) * PLACE_STEP
    number = use - 1 if lengths[0] else use - OUT
    return Place(number, first, PROCESS_CONTROL[use])


def sizes(slave: Surveyed, data: ProcessData) -> tuple[int, int]:
    """Return the bytes of outputs and inputs."""
    out, back = (pdo_bytes(entries_of(pdos)) for pdos in (data.outputs, data.inputs))
    if data.downloads or out or back:
        return out, back
    return slave.contents.output_bytes, slave.contents.input_bytes


def lay_out(master: Master, slave: Surveyed, data: ProcessData, logical: int) -> SlaveRecord:
    """Lay out one slave's sync managers and FMMUs, its process data from the logical address `logical` on."""
    n_out, n_in = sizes(slave, data)
    where = places(master, slave)
    for use, size in ((OUT, n_out), (IN, n_in)):
        if size and use not in where:
            where[use] = [_usual_place(slave, use, where, n_out)]
            log.info(
                "%s: neither its EEPROM (category 41) nor its controller says where its %s lie; tried at %#06x",
                master.called(slave.station),
                "outputs" if use == OUT else "inputs",
                where[use][0].start,
            )
    layout = SlaveLayout(
        slave.station,
        logical,
        n_out,
        logical + n_out,
        n_in,
        slave.has_clock,
        entries_of(data.outputs),
        entries_of(data.inputs),
        data.rest,
    )
    head = mailbox_rows(slave.contents)
    last = max((place.number for use in where for place in where[use]), default=0)
    rows = [head[8 * i : 8 * i + 8].ljust(8, b"\0") for i in range(max(LEAST_MANAGERS, last + 1))]
    pieces = []
    for use, size, pdos in ((OUT, n_out, data.outputs), (IN, n_in, data.inputs)):
        here = _pieces(master, slave, use, size, pdos, where.get(use, []))
        for (number, start, control), n in here:
            rows[number] = struct.pack("<HHBBBB", start, n, control, 0, 1 if n else 0, 0)
        pieces.append([(place.start, n) for place, n in here if n])
    return SlaveRecord(
        layout,
        slave.identity,
        b"".join(rows),
        _fmmus(master, slave, layout, pieces[0], pieces[1]),
        downloads=data.downloads,
    )


def _pieces(
    master: Master,
    slave: Surveyed,
    use: int,
    size: int,
    pdos: Sequence[SiiPdo],
    where: Sequence[Place],
) -> list[tuple[Place, int]]:
    """Return the bytes of each sync manager of a direction.

    Raises
    ------
    BringUpError
        A PDO belongs to none of them.
    """
    if len(where) <= 1:
        return [(place, size) for place in where]
    numbers = [place.number for place in where]
    if not pdos:
        return [(place, slave.contents.managers[place.number].size) for place in where]
    strange = [f"{pdo.index:#06x}" for pdo in pdos if pdo.manager not in numbers]
    if strange:
        way = "outputs" if use == OUT else "inputs"
        raise BringUpError(
            f"{master.called(slave.station)}: PDO {', '.join(strange)}: its EEPROM gives it to none of the sync "
            f"managers of {way}, {', '.join(map(str, numbers))}: write the EEPROM with the maker's tool"
        )
    return [(place, bytes_of(pdos, place.number)) for place in where]


def _fmmus(
    master: Master,
    slave: Surveyed,
    layout: SlaveLayout,
    outputs: list[tuple[int, int]],
    inputs: list[tuple[int, int]],
) -> bytes:
    """Return the FMMU registers; pieces that touch share one where the slave has too few.

    Raises
    ------
    BringUpError
        It has too few all the same.
    """
    if len(outputs) + len(inputs) > USUAL_FMMUS:
        has = master.read(slave.station, 0x0004, 1)[0]
        if has < len(outputs) + len(inputs):
            outputs, inputs = _joined(outputs), _joined(inputs)
        if has < len(outputs) + len(inputs):
            raise BringUpError(
                f"{master.called(slave.station)}: its process data lie in {len(outputs)} pieces of outputs and "
                f"{len(inputs)} of inputs (sync managers of its EEPROM), and it has {has} FMMUs to map them: assign "
                "fewer PDOs with rx_assign and tx_assign"
            )
    return fmmu_rows(layout, outputs, inputs)


def _joined(pieces: list[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for start, size in pieces:
        if found and sum(found[-1]) == start:
            found[-1] = (found[-1][0], found[-1][1] + size)
        else:
            found.append((start, size))
    return found


def write_process_data(master: Master, record: SlaveRecord) -> None:
    """Write sync managers and FMMUs of the process data; in PREOP."""
    station = record.layout.station
    first = MAILBOX_BYTES if record.managers[4] & 0x03 == 2 else 0
    master.write(station, 0x0800 + first, record.managers[first:])
    master.write(station, 0x0600, record.fmmus)


def write_watchdog(master: Master, station: int, watchdog_ms: float) -> None:
    """Write the watchdog of the process data; before SAFEOP is asked for, where some slaves take it over."""
    for register, value in watchdog_registers(watchdog_ms):
        master.write(station, register, struct.pack("<H", value))

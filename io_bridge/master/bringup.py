"""From power-up to SAFEOP, slave by slave: the steps of every bring-up, and the way that needs no pysoem."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

from io_bridge.master import slave_clock
from io_bridge.master.master import Master
from io_bridge.master.past_guards import hidden_drives, torque_offsets
from io_bridge.master.process_data import ProcessData, from_eeprom, settle
from io_bridge.master.slave_objects import SlaveObjects
from io_bridge.master.slave_registers import (
    lay_out,
    mailbox_rows,
    write_process_data,
    write_watchdog,
)
from io_bridge.master.state_change import finish, reach, together
from io_bridge.master.survey import SlaveConfig, Surveyed, check_identity, survey
from io_bridge.slaves import words
from io_bridge.slaves.clock_config import ClockConfig
from io_bridge.slaves.drive_config import DriveConfig
from io_bridge.slaves.errors import BringUpError
from io_bridge.slaves.pdo_layout import SlaveLayout, SlaveRecord, axes_of
from io_bridge.slaves.state_limits import STANDARD

__all__ = [
    "BringUpError",
    "Master",
    "SlaveConfig",
    "again",
    "check_identity",
    "know",
    "open_mailbox",
    "prepare",
    "settle_all",
    "to_safeop",
]

log = logging.getLogger("rigloop.bus")

INIT, PREOP, SAFEOP, OP = 1, 2, 4, 8
INVALID_WATCHDOG = 0x001F


def open_mailbox(master: Master, station: int, rows: bytes) -> None:
    """Set sync managers 0 and 1 of a slave in INIT; `rows` is empty where it has no mailbox."""
    if rows:
        master.write(station, 0x0800, rows)
        master.know_mailbox(station, rows, taken_over=False)


def to_preop(master: Master, slave: Surveyed, config: SlaveConfig) -> Iterator[None]:
    """Take a slave from any state through INIT to PREOP, with its mailbox open."""
    yield from reach(master, slave.station, INIT, config.limits)
    open_mailbox(master, slave.station, mailbox_rows(slave.contents))
    yield from reach(master, slave.station, PREOP, config.limits)


def settle_all(
    master: Master, slaves: Sequence[Surveyed], groups: Sequence[Sequence[SlaveConfig]]
) -> list[ProcessData]:
    """Write the objects of the rig to all slaves in PREOP, and settle their process data.

    Raises
    ------
    BringUpError
        A slave refuses a setting that it needs; every such slave is named.
    """
    found: list[ProcessData] = []
    wrong: list[str] = []
    for slave, group in zip(slaves, groups, strict=True):
        if not slave.contents.has_coe:
            found.append(from_eeprom(slave.contents))
            wrong += hidden_drives(group, found[-1].outputs)
            asked = [config.name for config in group if config.setup]
            if asked:
                wrong.append(f"{', '.join(asked)}: setup: the slave has no objects (no CoE)")
            continue
        objects = SlaveObjects(master, slave.station, master.names.get(slave.station, ""))
        try:
            found.append(settle(group, slave.contents, objects))
            wrong += hidden_drives(group, found[-1].outputs)
            wrong += torque_offsets(group, found[-1].outputs, objects)
        except BringUpError as error:
            wrong.append(str(error))
    if wrong:
        raise BringUpError("; ".join(wrong))
    return found


def ready(master: Master, config: SlaveConfig, record: SlaveRecord) -> Iterator[None]:
    """From PREOP to SAFEOP: all that a slave may take over on the way is written before it is asked."""
    write_process_data(master, record)
    write_watchdog(master, record.layout.station, config.watchdog_ms)
    try:
        yield from reach(master, record.layout.station, SAFEOP, config.limits)
    except BringUpError as error:
        if words.al_code(INVALID_WATCHDOG) not in str(error):
            raise
        raise BringUpError(
            f"{error}; the rig asks for watchdog_ms = {config.watchdog_ms:g} of {config.name!r}"
        ) from error


def has_mailbox(record: SlaveRecord) -> bool:
    """Return whether a slave was configured with a mailbox, and so has objects."""
    return record.managers[4] & 0x03 == 2


def again(master: Master, config: SlaveConfig, record: SlaveRecord) -> Iterator[None]:
    """Take one addressed slave from any state to SAFEOP as it was configured before.

    Raises
    ------
    BringUpError
        A refused step; the message names it.
    """
    station = record.layout.station
    yield from reach(master, station, INIT, config.limits)
    open_mailbox(master, station, record.managers[:16] if has_mailbox(record) else b"")
    yield from reach(master, station, PREOP, config.limits)
    objects = SlaveObjects(master, station, config.name)
    for item in record.downloads:
        objects.demand(item)
        yield
    yield from ready(master, config, record)


def to_safeop(master: Master, slaves: Sequence[SlaveConfig]) -> list[SlaveLayout]:
    """Bring every slave from power-up to SAFEOP and return where its process data lies; see `prepare`."""
    return [record.layout for record in prepare(master, slaves)]


def prepare(
    master: Master, slaves: Sequence[SlaveConfig], clock: ClockConfig | None = None
) -> list[SlaveRecord]:
    """Bring every slave from power-up to SAFEOP and return how each was configured.

    Raises
    ------
    BringUpError
        Wrong number of slaves, wrong identities (all of them named), or a refused step.
    """
    groups = axes_of(slaves)
    firsts = [group[0] for group in groups]
    found = survey(master, groups)
    changes = [to_preop(master, *pair) for pair in zip(found, firsts, strict=True)]
    finish(together(changes), master.pause_s)
    records: list[SlaveRecord] = []
    logical = 0
    for slave, data in zip(found, settle_all(master, found, groups), strict=True):
        records.append(lay_out(master, slave, data, logical))
        logical += records[-1].layout.n_outputs + records[-1].layout.n_inputs
    records = slave_clock.align(master, records)
    changes = [ready(master, *pair) for pair in zip(firsts, records, strict=True)]
    finish(together(changes), master.pause_s)
    start_clocks(master, groups, records, clock)
    return records


def start_clocks(
    master: Master,
    groups: Sequence[Sequence[SlaveConfig]],
    records: Sequence[SlaveRecord],
    clock: ClockConfig | None,
) -> None:
    """Start SYNC0 at the drives that work on it."""
    for group, record in zip(groups, records, strict=True):
        if clock is not None and wants_sync0(group):
            slave_clock.start_sync0(master, record.layout.station, clock)


def know(master: Master, slaves: Sequence[SlaveConfig], records: Sequence[SlaveRecord]) -> None:
    """Tell a further master of slaves that run: their names, time limits and mailboxes."""
    for group, record in zip(axes_of(slaves), records, strict=True):
        station = record.layout.station
        master.names[station] = "+".join(slave.name for slave in group)
        master.limits[station] = group[0].limits
        master.know_mailbox(station, record.managers)


def wants_sync0(group: Sequence[SlaveConfig]) -> bool:
    """Return whether a drive in this slave works on SYNC0."""
    return any(isinstance(slave, DriveConfig) and slave.sync0 for slave in group)


def to_op(
    master: Master, groups: Sequence[Sequence[SlaveConfig]], records: Sequence[SlaveRecord]
) -> Iterator[None]:
    """Ask all slaves for OP; somebody exchanges their outputs meanwhile."""
    return together(
        reach(master, record.layout.station, OP, group[0].limits if group else STANDARD)
        for group, record in zip(groups, records, strict=True)
    )

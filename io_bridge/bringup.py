"""From power-up to SAFEOP with the small master; and what any master needs to know of the way."""

from __future__ import annotations

import functools
import struct
from collections.abc import Iterator, Sequence

from io_bridge import slave_clock
from io_bridge.clock_config import ClockConfig
from io_bridge.drive_config import MODE_CODES, DriveConfig, pdo_bytes
from io_bridge.mapped_pdos import mapped_pdos, whole_bytes
from io_bridge.master import BWR, BringUpError, Master
from io_bridge.pdo_layout import (
    SlaveLayout,
    SlaveRecord,
    fmmu_rows,
    pdo_downloads,
    watchdog_registers,
)
from io_bridge.sii import Identity, SyncManager
from io_bridge.sii_contents import SiiContents, read_contents
from io_bridge.terminal_config import TerminalConfig

__all__ = [
    "BringUpError",
    "Master",
    "check_identity",
    "configure",
    "prepare",
    "setup_downloads",
    "to_safeop",
]

SlaveConfig = DriveConfig | TerminalConfig
INIT, PREOP, SAFEOP, OP = 1, 2, 4, 8


def setup_downloads(slave: SlaveConfig) -> Iterator[tuple[int, int, int, int]]:
    """Yield the (index, subindex, value, bytes) that a slave gets in PREOP: its own objects, the mode, the
    PDOs."""
    if not isinstance(slave, DriveConfig):
        return
    yield from ((s.index, s.subindex, s.value, s.size) for s in slave.setup)
    yield 0x6060, 0, MODE_CODES[slave.mode], 1
    yield from pdo_downloads(0x1C12, 0x1600, slave.rx_pdo)
    yield from pdo_downloads(0x1C13, 0x1A00, slave.tx_pdo)


def check_identity(position: int, config: SlaveConfig, found: Identity) -> list[str]:
    """Return what differs between the slave found and the one configured."""
    if config.identity is None:
        return []
    return [
        f"slave {position} ({config.name}): {field} {getattr(found, field):#x}, "
        f"the rig has {getattr(config.identity, field):#x}"
        for field in ("vendor", "product", "revision", "serial")
        if getattr(found, field) != getattr(config.identity, field)
        and not (field == "serial" and config.identity.serial == 0)
    ]


def configure(master: Master, slave: SlaveConfig, record: SlaveRecord) -> None:
    """Take one addressed slave from any state to SAFEOP; the same after a power cycle as at the first time.

    Raises
    ------
    BringUpError
        A refused step; the message names it.
    """
    station = record.layout.station
    n_mailbox = 16 if record.managers[4] & 0x03 == 2 else 0
    master.request(station, INIT)
    master.await_state(station, INIT)
    if n_mailbox:
        master.write(station, 0x0800, record.managers[:16])
        master.know_mailbox(station, record.managers, taken_over=False)
    master.request(station, PREOP)
    master.await_state(station, PREOP)
    for index, sub, value, size in setup_downloads(slave):
        master.download(station, index, sub, value, size)
    master.write(station, 0x0800 + n_mailbox, record.managers[n_mailbox:])
    master.write(station, 0x0600, record.fmmus)
    for register, value in watchdog_registers(slave.watchdog_ms):
        master.write(station, register, struct.pack("<H", value))
    master.request(station, SAFEOP)
    master.await_state(station, SAFEOP)


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
    found = master.count()
    if found != len(slaves):
        raise BringUpError(f"{found} slaves answer, the rig has {len(slaves)}")
    master.access(BWR, 0, 0x0120, struct.pack("<H", INIT | 0x10))
    stations = [master.address(position) for position in range(found)]
    wrong = [
        line
        for position, station in enumerate(stations)
        for line in check_identity(position, slaves[position], master.identity(station))
    ]
    if wrong:
        raise BringUpError("; ".join(wrong))
    records = []
    logical = 0
    for station, slave in zip(stations, slaves, strict=True):
        record = plan(master, station, slave, logical)
        logical += record.layout.n_outputs + record.layout.n_inputs
        records.append(record)
    records = slave_clock.align(master, records)
    for slave, record in zip(slaves, records, strict=True):
        configure(master, slave, record)
        if clock is not None and isinstance(slave, DriveConfig) and slave.sync0:
            slave_clock.start_sync0(master, record.layout.station, clock)
    return records


def plan(master: Master, station: int, slave: SlaveConfig, logical: int) -> SlaveRecord:
    """Lay out one slave's sync managers and FMMUs, its process data from `logical` on."""
    contents = read_contents(lambda word: master.eeprom(station, word))
    has_clock = bool(master.read(station, 0x0008, 1)[0] & 0x04)
    if isinstance(slave, DriveConfig):
        n_out, n_in = pdo_bytes(slave.rx_pdo), pdo_bytes(slave.tx_pdo)
    elif contents.has_coe:
        n_out, n_in = mapped_bytes(master, station)
    else:
        n_out, n_in = contents.output_bytes, contents.input_bytes
    layout = SlaveLayout(station, logical, n_out, logical + n_out, n_in, has_clock)
    identity = master.identity(station)
    return SlaveRecord(
        layout,
        identity,
        _manager_rows(contents, n_out, n_in),
        fmmu_rows(layout, *(_start(contents.managers, use) for use in (3, 4))),
    )


def mapped_bytes(master: Master, station: int) -> tuple[int, int]:
    """Return the bytes of outputs and inputs that a slave has mapped by itself; it is left in PREOP."""
    master.set_mailbox(station)
    master.request(station, PREOP)
    master.await_state(station, PREOP)
    upload = functools.partial(master.upload, station)
    outputs, inputs = mapped_pdos(upload, 0x1C12, 2), mapped_pdos(upload, 0x1C13, 3)
    return whole_bytes(outputs), whole_bytes(inputs)


def _start(managers: Sequence[SyncManager], use: int) -> int:
    return next((manager.start for manager in managers if manager.use == use), 0)


def _manager_rows(contents: SiiContents, n_out: int, n_in: int) -> bytes:
    """Registers of all sync managers; process data in the sizes that are mapped."""
    rows = b""
    for manager in contents.managers[:4]:
        size = {3: n_out, 4: n_in}.get(manager.use, manager.size)
        if manager.use in (1, 2):
            size = contents.mailbox_bytes[manager.use - 1]
        rows += struct.pack("<HHBBBB", manager.start, size, manager.control, 0, 1 if size else 0, 0)
    return rows.ljust(32, b"\0")

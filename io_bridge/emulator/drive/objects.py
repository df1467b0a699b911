"""The description of the simulated drive: CiA 402 objects, with the numbers of its motor."""

from __future__ import annotations

from dataclasses import replace

from io_bridge.slaves.device_description import Description, Entry, Object, Pdo, variable
from io_bridge.slaves.drive_config import RX_PDO, SENSOR, TX_PDO, DrivePlant, PdoEntry
from io_bridge.slaves.sii import Identity

NOTES_BYTES = 128
"""Size of object 0x2010, which belongs to the user."""

ROOM = 8
"""Entries that a mapping object can take."""

ASSIGN = 4
"""PDOs that a master can assign in each direction."""

SERVO_DRIVE = 0x00020192
MODES = 1 << 7 | 1 << 8 | 1 << 9
"""Cyclic synchronous position, velocity and torque, as 0x6502 has them."""


AXIS_OBJECTS, AXIS_PDOS = 0x800, 0x10
"""Distance between the objects, and between the PDOs, of two axes of one slave (ETG.6010)."""


def drive_description(parameters: DrivePlant, identity: Identity, axes: int = 1) -> Description:
    """Return the description of a simulated drive with these parameters, the same for each of its axes."""
    p = parameters
    places = [(AXIS_OBJECTS * axis, AXIS_PDOS * axis) for axis in range(axes)]
    return Description(
        name=p.name,
        identity=identity,
        ports=("mii", "mii"),
        mailbox_bytes=p.mailbox_bytes,
        device_type=SERVO_DRIVE,
        rx_pdos=tuple(
            Pdo(0x1600 + pdo, f"RxPDO {i}", _shifted(RX_PDO, by), ROOM)
            for i, (by, pdo) in enumerate(places, 1)
        ),
        tx_pdos=tuple(
            Pdo(0x1A00 + pdo, f"TxPDO {i}", _shifted(TX_PDO, by), ROOM)
            for i, (by, pdo) in enumerate(places, 1)
        ),
        assign=max(ASSIGN, axes),
        objects=(
            _synchronisation(0x1C32, "SM output parameter", 0x01),
            _synchronisation(0x1C33, "SM input parameter", 0x22),
            variable(0x2010, "Notes", f"OCTETS({NOTES_BYTES})", access="rw"),
            *(
                replace(item, index=item.index + by)
                for by, _ in places
                for item in _axis_objects(p)
            ),
        ),
    )


def _axis_objects(p: DrivePlant) -> tuple[Object, ...]:
    peak = int(1000.0 * p.peak_torque_nm / p.rated_torque_nm)
    return (
        variable(SENSOR[0], "Torque sensor", "INT32", pdo="tx"),
        variable(0x603F, "Error code", "UINT16", pdo="tx"),
        variable(0x6040, "Controlword", "UINT16", access="rw", pdo="rx"),
        variable(0x6041, "Statusword", "UINT16", pdo="tx"),
        variable(0x6060, "Modes of operation", "INT8", 10, access="rw", pdo="rx"),
        variable(0x6061, "Modes of operation display", "INT8", pdo="tx"),
        variable(0x6064, "Position actual value", "INT32", pdo="tx"),
        variable(0x606C, "Velocity actual value", "INT32", pdo="tx"),
        variable(0x6071, "Target torque", "INT16", access="rw", pdo="rx"),
        variable(0x6072, "Max torque", "UINT16", peak, access="rw", pdo="rx"),
        variable(0x6076, "Motor rated torque", "UINT32", round(1000.0 * p.rated_torque_nm)),
        variable(0x6077, "Torque actual value", "INT16", pdo="tx"),
        variable(0x607A, "Target position", "INT32", access="rw", pdo="rx"),
        Object(
            0x608F,
            "Position encoder resolution",
            (
                Entry(0, "UINT8", "SubIndex 000", value=2),
                Entry(1, "UINT32", "Encoder increments", value=p.counts_per_rev),
                Entry(2, "UINT32", "Motor revolutions", value=1),
            ),
        ),
        variable(0x60FF, "Target velocity", "INT32", access="rw", pdo="rx"),
        variable(0x6502, "Supported drive modes", "UINT32", MODES),
    )


def _shifted(pdo: tuple[PdoEntry, ...], by: int) -> tuple[PdoEntry, ...]:
    return tuple((index + by, subindex, bits) for index, subindex, bits in pdo)


def _synchronisation(index: int, name: str, mode: int) -> Object:
    return Object(
        index,
        name,
        (
            Entry(0, "UINT8", "SubIndex 000", value=2),
            Entry(1, "UINT16", "Synchronization type", value=mode),
            Entry(2, "UINT32", "Cycle time"),
        ),
    )

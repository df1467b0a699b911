"""What the bus must know of a drive, and what the simulated drive is made of."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Literal

from io_bridge.sii import Identity

PdoEntry = tuple[int, int, int]
"""Index, subindex and bits of one mapped object."""

RX_PDO: tuple[PdoEntry, ...] = ((0x6040, 0, 16), (0x6071, 0, 16), (0x6060, 0, 8))
TX_PDO: tuple[PdoEntry, ...] = (
    (0x6041, 0, 16),
    (0x6064, 0, 32),
    (0x606C, 0, 32),
    (0x6077, 0, 16),
    (0x6061, 0, 8),
)
COMMAND_OBJECTS: dict[str, PdoEntry] = {
    "torque": (0x6071, 0, 16),
    "velocity": (0x60FF, 0, 32),
    "position": (0x607A, 0, 32),
}
"""Object that takes the command, by mode."""
MODE_CODES = {"position": 8, "velocity": 9, "torque": 10}
"""Value of 0x6060: the cyclic synchronous modes."""
SENSOR = (0x2077, 0, 32)
"""Torque sensor of the simulated drive, INT32 in mNm."""

SIMULATED_IDENTITY = Identity(vendor=0x00000A7E, product=0x4B32484C, revision=1)


def pdo_offset(pdo: tuple[PdoEntry, ...], index: int, subindex: int = 0) -> int:
    """Return the byte offset of an object in a PDO, or -1 when it is not mapped."""
    at = 0
    for entry in pdo:
        if entry[:2] == (index, subindex):
            return at
        at += entry[2] // 8
    return -1


def pdo_bytes(pdo: tuple[PdoEntry, ...]) -> int:
    """Return the bytes a PDO occupies."""
    return sum(bits for _, _, bits in pdo) // 8


def _check(owner: str, mistakes: list[str]) -> None:
    if mistakes:
        raise ValueError(f"{owner}: " + "; ".join(mistakes))


@dataclass(frozen=True)
class SdoWrite:
    """One object to write in PREOP, before the PDOs are mapped."""

    index: int
    subindex: int
    value: int
    size: Literal[1, 2, 4]

    def __post_init__(self) -> None:
        if not -(1 << 8 * self.size - 1) <= self.value < 1 << 8 * self.size:
            raise ValueError(
                f"SDO {self.index:#06x}:{self.subindex} = {self.value}: does not fit {self.size} bytes"
            )


@dataclass(frozen=True)
class DriveConfig:
    """One drive on the bus, in ring order.

    Attributes
    ----------
    name : str
        Prefix of the drive's ports: ``<name>/torque_nm``.
    rated_torque_nm : float
        What 1000 per mille of 0x6071 and 0x6077 mean.
    peak_torque_nm : float
        Commands are saturated here, last thing before the frame.
    counts_per_rev : int
        Increments of 0x6064 per revolution of the shaft.
    sign : {1, -1}
        -1 when the drive counts and pushes against the rig's positive sense; applied to position,
        velocity and torque.
    identity : Identity, optional
        The slave found must say the same of itself; None = not checked. Serial 0 = any.
    rx_pdo, tx_pdo : tuple of (index, subindex, bits)
        Process data to and from the drive, written to 0x1600 and 0x1A00; the first one left empty:
        controlword, the mode's command and 0x6060.
    watchdog_ms : float
        Silence after which the drive goes safe by itself (registers 0x0400, 0x0420); 0.1 ms steps.
    mode : {"torque", "velocity", "position"}
        Which of the cyclic synchronous modes, and so what the command port means.
    velocity_limit_rad_s : float
        Commanded speed is saturated here; a position command is followed no faster.
    velocity_unit_counts_s : float
        What one unit of 0x606C and 0x60FF means.
    quick_stop : bool
        A drive no longer enabled brakes, instead of letting go.
    sync0 : bool
        The drive works on SYNC0, at the period of the cycle.
    setup : tuple of SdoWrite
        Written in PREOP, in order, at every bring-up and after every power cycle.
    """

    name: str = "drive"
    rated_torque_nm: float = 6.37
    peak_torque_nm: float = 19.1
    counts_per_rev: int = 1 << 20
    sign: int = 1
    identity: Identity | None = None
    rx_pdo: tuple[PdoEntry, ...] = ()
    tx_pdo: tuple[PdoEntry, ...] = TX_PDO
    watchdog_ms: float = 100.0
    mode: Literal["torque", "velocity", "position"] = "torque"
    velocity_limit_rad_s: float = 100.0
    velocity_unit_counts_s: float = 1.0
    quick_stop: bool = False
    sync0: bool = False
    setup: tuple[SdoWrite, ...] = ()

    def __post_init__(self) -> None:
        bad = []
        if self.mode not in MODE_CODES:
            raise ValueError(f"drive {self.name!r}: mode = {self.mode!r}: {', '.join(MODE_CODES)}")
        command = COMMAND_OBJECTS[self.mode]
        if not self.rx_pdo:
            object.__setattr__(self, "rx_pdo", (RX_PDO[0], command, RX_PDO[2]))
        for key in ("velocity_limit_rad_s", "velocity_unit_counts_s"):
            if not 0.0 < getattr(self, key) < math.inf:
                bad.append(f"{key} = {getattr(self, key)}: must be > 0")
        if not self.name or "/" in self.name:
            bad.append(f"name = {self.name!r}: not empty, no '/'")
        if not 0.0 < self.rated_torque_nm < math.inf:
            bad.append(f"rated_torque_nm = {self.rated_torque_nm}: must be > 0")
        elif not 0.0 < self.peak_torque_nm <= 32.767 * self.rated_torque_nm:
            bad.append(
                f"peak_torque_nm = {self.peak_torque_nm}: must be > 0 and at most "
                f"{32.767 * self.rated_torque_nm:.3f} (int16 per mille of rated torque)"
            )
        if not 4 <= self.counts_per_rev <= 1 << 31:
            bad.append(f"counts_per_rev = {self.counts_per_rev}: 4 to 2^31")
        if self.sign not in (1, -1):
            bad.append(f"sign = {self.sign}: 1 or -1")
        if not 0.1 <= self.watchdog_ms <= 6553.5:
            bad.append(f"watchdog_ms = {self.watchdog_ms}: 0.1 to 6553.5; it cannot be off")
        for field, needed in (("rx_pdo", (RX_PDO[0], command)), ("tx_pdo", TX_PDO[:2])):
            pdo = getattr(self, field)
            if any(bits % 8 or not 8 <= bits <= 64 for _, _, bits in pdo) or len(pdo) > 8:
                bad.append(f"{field}: at most 8 entries of whole bytes, 8 to 64 bits each")
            bad += [
                f"{field}: {index:#06x}:{sub} with {bits} bits is missing"
                for index, sub, bits in needed
                if (index, sub, bits) not in pdo
            ]
        _check(f"drive {self.name!r}", bad)


@dataclass(frozen=True)
class DrivePlant:
    """The simulated drive, its motor with the steering wheel, and the driver's hands.

    Defaults: a wheel on an Omron R88M-K2K030C direct drive with a 20-bit encoder.

    Attributes
    ----------
    inertia_kg_m2, viscous_nms, coulomb_nm, coulomb_rad_s : float
        Motor and wheel; dry friction reaches 71 % of its value at coulomb_rad_s.
    rated_torque_nm, peak_torque_nm : float
        Scale of the torque objects (0x6076) and limit of the motor (0x6072).
    torque_lag_s : float
        Time constant of the current loop.
    counts_per_rev : int
        Encoder increments per revolution; the count is a multi-turn int32 that wraps.
    hands : {"spring", "prescribed", "free"}
        A spring-damper to the hands' trajectory, the trajectory itself, or nobody at the wheel.
    hands_stiffness_nm_rad, hands_damping_nms : float
        Of the spring.
    amplitude_rad, frequency_hz, offset_rad, start_s : float
        Trajectory offset + r(t) amplitude sin(2 pi f t); r rises smoothly from 0 to 1 within
        start_s.
    name : str
        Device name in EEPROM and object 0x1008.
    mailbox_bytes : int
        Size of both mailboxes, 48 to 256.
    """

    inertia_kg_m2: float = 0.06
    viscous_nms: float = 0.05
    coulomb_nm: float = 0.1
    coulomb_rad_s: float = 0.05
    rated_torque_nm: float = 6.37
    peak_torque_nm: float = 19.1
    torque_lag_s: float = 0.0005
    counts_per_rev: int = 1 << 20
    hands: Literal["spring", "prescribed", "free"] = "spring"
    hands_stiffness_nm_rad: float = 20.0
    hands_damping_nms: float = 1.0
    amplitude_rad: float = math.radians(60.0)
    frequency_hz: float = 0.3
    offset_rad: float = 0.0
    start_s: float = 1.0
    name: str = "rigloop simulated CiA 402 drive"
    mailbox_bytes: int = 128

    def __post_init__(self) -> None:
        bad = []
        for field in fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, int | float):
                continue
            if field.name in ("amplitude_rad", "offset_rad"):
                if not math.isfinite(value):
                    bad.append(f"{field.name} = {value}: must be finite")
            elif not (math.isfinite(value) and value >= 0):
                bad.append(f"{field.name} = {value}: must be finite and not negative")
        bad += [
            f"{key} = {getattr(self, key)}: must be > 0"
            for key in ("inertia_kg_m2", "coulomb_rad_s", "rated_torque_nm", "peak_torque_nm")
            if getattr(self, key) == 0
        ]
        if not 4 <= self.counts_per_rev <= 1 << 31:
            bad.append(f"counts_per_rev = {self.counts_per_rev}: 4 to 2^31")
        if self.hands not in ("spring", "prescribed", "free"):
            bad.append(f"hands = {self.hands!r}: spring, prescribed or free")
        if not 48 <= self.mailbox_bytes <= 256:
            bad.append(f"mailbox_bytes = {self.mailbox_bytes}: 48 to 256")
        _check("drive plant", bad)

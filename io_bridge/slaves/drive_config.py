"""Settings of a drive: those that the bus needs, and the parameters of the simulated drive."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from io_bridge.slaves.moving_objects import AXIS_STEP, moving
from io_bridge.slaves.sii import Identity
from io_bridge.slaves.state_limits import STANDARD, StateLimits
from rig_configs.numbers import NonNegative, NonNegativeS, Positive, Real
from rig_configs.plants import Hands
from rig_configs.section import Torque
from rig_configs.slaves import (
    MOST_ENTRIES,
    Axis,
    CountsPerRev,
    MappingChoice,
    Mode,
    RxIndex,
    TxIndex,
    WatchdogMs,
)
from rt_core.settings import SettingsError, Sign, Wrong, check

PdoEntry = tuple[int, int, int]
"""Index, subindex and bits of one mapped object; index 0 is padding."""

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
MOST_PER_MILLE = 32_767
"""Largest share of the rated torque, in per mille, in the 16 bits of 0x6071."""
SENSOR = (0x2077, 0, 32)
"""Torque sensor of the simulated drive, INT32 in mNm; each axis has its own, AXIS_STEP further."""

SIMULATED_IDENTITY = Identity(vendor=0x00000A7E, product=0x4B32484C, revision=1)

MappedObject = tuple[
    Annotated[int, Field(ge=0, le=0xFFFF)],
    Annotated[int, Field(ge=0, le=255)],
    Annotated[int, Field(ge=1, le=255)],
]
MappedObjects = Annotated[tuple[MappedObject, ...], Field(max_length=MOST_ENTRIES)]
# wider than the degrees of a rig file; times the finest counts_per_rev it fits into 64 bits
PlantRad = Annotated[float, Field(ge=-1e6, le=1e6)]
SlaveName = Annotated[str, Field(pattern=r"^[^/]+$")]


def pdo_offset(pdo: tuple[PdoEntry, ...], index: int, subindex: int = 0, bits: int = 0) -> int:
    """Return the byte offset of an object in a PDO; -1 when it is not mapped, not with `bits` bits (0: any), or does
    not begin on a whole byte."""
    at = 0
    for entry in pdo:
        if entry[:2] == (index, subindex) and bits in (0, entry[2]):
            return -1 if at % 8 else at // 8
        at += entry[2]
    return -1


def pdo_bytes(pdo: tuple[PdoEntry, ...]) -> int:
    """Return the bytes a PDO occupies."""
    return (sum(bits for _, _, bits in pdo) + 7) // 8


def of_axis(entries: tuple[PdoEntry, ...], axis: int) -> tuple[PdoEntry, ...]:
    """Return the same objects of another axis of a drive: those of CiA 402 lie 0x800 further for each."""
    return tuple(
        (index + AXIS_STEP * axis if 0x6000 <= index < 0x6800 else index, sub, bits)
        for index, sub, bits in entries
    )


@dataclass(frozen=True)
class SdoWrite:
    """One object to write in PREOP, before the PDOs are mapped."""

    index: int
    subindex: int
    value: int
    size: Literal[1, 2, 4]

    def __post_init__(self) -> None:
        if not -(1 << 8 * self.size - 1) <= self.value < 1 << 8 * self.size:
            entry = f"{self.index:#06x}:{self.subindex}"
            problem = f"{self.value} does not fit {self.size} bytes"
            raise SettingsError("SDO", [Wrong("setup", entry, problem)])


@dataclass(frozen=True)
class DriveConfig:
    """One drive on the bus, in ring order.

    Attributes
    ----------
    name : str
        Prefix of the drive's ports: ``<name>/torque_nm``.
    rated_torque_nm : float
        The torque of 1000 per mille in 0x6071 and 0x6077.
    peak_torque_nm : float
        Commands are saturated here, last thing before the frame.
    counts_per_rev : int
        Increments of 0x6064 per revolution of the shaft.
    sign : {1, -1}
        -1 when the drive counts and pushes against the rig's positive sense; applied to position,
        velocity and torque.
    identity : Identity, optional
        The slave found must report the same identity; None = not checked. Serial 0 = any.
    rx_pdo, tx_pdo : tuple of (index, subindex, bits)
        Process data to and from the drive; left empty, the objects that the mode needs of the drive's axis.
    mapping : {"auto", "fixed", "explicit"}
        Whether the drive's own mapping is left alone: where it holds the needed objects, or cannot be written;
        always; or never.
    rx_assign, tx_assign : tuple of int
        Indices of the PDOs to assign; empty: those that the drive has, else 0x1600 and 0x1A00, and 16 further for
        each axis.
    axis : int
        Which axis of the slave, from 0.
    joined : bool
        A further axis of the slave before it.
    watchdog_ms : float
        Silence after which the drive goes safe by itself (registers 0x0400, 0x0420); 0.1 ms steps.
    mode : {"torque", "velocity", "position"}
        One of the cyclic synchronous modes, and so the meaning of the command port.
    velocity_limit_rad_s : float
        Commanded speed is saturated here; a position command is followed no faster.
    velocity_unit_counts_s : float
        The speed of one unit of 0x606C and 0x60FF.
    quick_stop : bool
        A drive no longer enabled brakes, instead of letting go.
    sync0 : bool
        The drive works on SYNC0, at the period of the cycle.
    setup : tuple of SdoWrite
        Written in PREOP, in order, at every bring-up and after every power cycle.
    limits : StateLimits
        How long its states and its mailbox may take.
    has_own_guard : bool
        A guard of its own sees its fault: no other drive is held, and the bus reports no fault.
    """

    name: SlaveName = "drive"
    rated_torque_nm: Torque = 6.37
    peak_torque_nm: Torque = 19.1
    counts_per_rev: CountsPerRev = 1 << 20
    sign: Sign = 1
    identity: Identity | None = None
    rx_pdo: MappedObjects = ()
    tx_pdo: MappedObjects = ()
    watchdog_ms: WatchdogMs = 100.0
    mode: Mode = "torque"
    velocity_limit_rad_s: Positive = 100.0
    velocity_unit_counts_s: Positive = 1.0
    quick_stop: bool = False
    sync0: bool = False
    setup: tuple[SdoWrite, ...] = ()
    mapping: MappingChoice = "auto"
    rx_assign: tuple[RxIndex, ...] = ()
    tx_assign: tuple[TxIndex, ...] = ()
    axis: Axis = 0
    joined: bool = False
    limits: StateLimits = STANDARD
    has_own_guard: bool = False

    def __post_init__(self) -> None:
        check(f"drive {self.name!r}", self, self._mistakes())
        if not self.rx_pdo:
            object.__setattr__(self, "rx_pdo", self._usual[0])
        if not self.tx_pdo:
            object.__setattr__(self, "tx_pdo", self._usual[1])

    def _mistakes(self) -> Iterator[Wrong]:
        yield from named_twice(rx_assign=self.rx_assign, tx_assign=self.tx_assign)
        for entry in self.setup:
            if moves := moving(entry.index):
                problem = f"writes {moves}, which no guard sees: take it out"
                yield Wrong("setup", f"{entry.index:#06x}:{entry.subindex}", problem)
        most = MOST_PER_MILLE * 1e-3 * self.rated_torque_nm
        if self.peak_torque_nm > most:
            problem = f"must be at most {most:.3f} (int16 per mille of rated torque)"
            yield Wrong("peak_torque_nm", self.peak_torque_nm, problem)
        for key, needed in (("rx_pdo", self.needed_outputs), ("tx_pdo", self.needed_inputs)):
            given = getattr(self, key)
            for index, sub, bits in needed if given else ():
                if pdo_offset(given, index, sub, bits) < 0:
                    problem = f"{index:#06x}:{sub} with {bits} bits is missing, or does not begin on a whole byte"
                    yield Wrong(key, [f"{i:#06x}:{s}/{b}" for i, s, b in given], problem)

    @property
    def _usual(self) -> tuple[tuple[PdoEntry, ...], tuple[PdoEntry, ...]]:
        outputs = (RX_PDO[0], COMMAND_OBJECTS[self.mode], RX_PDO[2])
        return of_axis(outputs, self.axis), of_axis(TX_PDO, self.axis)

    @property
    def given(self) -> tuple[bool, bool]:
        """For rx_pdo and for tx_pdo, whether it differs from the default of the mode."""
        usual = self._usual
        return self.rx_pdo != usual[0], self.tx_pdo != usual[1]

    @property
    def needed_outputs(self) -> tuple[PdoEntry, ...]:
        """Objects without which nothing can be commanded."""
        return of_axis((RX_PDO[0], COMMAND_OBJECTS[self.mode]), self.axis)

    @property
    def needed_inputs(self) -> tuple[PdoEntry, ...]:
        """Objects without which the state of the drive cannot be judged."""
        return of_axis(TX_PDO[:2], self.axis)


def named_twice(**assigned: tuple[int, ...]) -> Iterator[Wrong]:
    """Find PDOs that are assigned twice."""
    for key, given in assigned.items():
        if len(set(given)) != len(given):
            yield Wrong(key, [f"{index:#06x}" for index in given], "a PDO is named twice")


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
    encoder_sign, torque_sign : {1, -1}
        -1: the encoder counts, or the motor pushes, the wrong way round.
    encoder_offset_count : int
        The count at the angle 0.
    torque_factor : float
        Torque at the shaft over the torque that the drive reports: a wrong torque constant.
    torque_delay_s : float
        A command acts so long after its frame.
    torque_slope_nm_s : float
        The drive changes its torque no faster; 0: as fast as it is asked to.
    torque_outlasts_s : float
        The torque ends so long after the drive has left its operation, by a stop, a fault or its watchdog.
    torque_one_way : bool
        True: half of its output stage is dead; it gives no negative torque.
    torque_clip_nm : float
        The shaft has no more than this, and the drive does not say so; 0: all that it is asked for.
    torque_bias_nm : float
        In its operation a torque of this acts beside its own, and it does not report it.
    torque_inverts_below_rad_s : float
        Below this speed it pushes the wrong way round.
    spring_nm_rad : float
        A spring that nobody has mentioned pulls a wheel, which nobody leads, to `offset_rad`.
    encoder_play_rad : float
        The shaft turns by this before the encoder follows.
    encoder_stuck_bits : int
        Bits of the count that are always 1.
    keeps_max_torque, has_watchdog, stop_wired : bool
        False: the drive ignores 0x6072, keeps its torque when its master falls silent, or has no cable to its
        emergency stop.
    watchdog_once : bool
        True: its watchdog ends the torque once, and never again.
    says_no_torque : bool
        True: once it has left its operation it reports no torque, whatever acts.
    stop_does : {"end", "warn", "run on"}
        What a stop with a cable does: it takes the torque away; it warns, in bit 7 of the statusword; or the drive
        says that it has left its operation, and pushes on.
    """

    inertia_kg_m2: Positive = 0.06
    viscous_nms: NonNegative = 0.05
    coulomb_nm: NonNegative = 0.1
    coulomb_rad_s: Positive = 0.05
    rated_torque_nm: Torque = 6.37
    peak_torque_nm: Torque = 19.1
    torque_lag_s: NonNegativeS = 0.0005
    counts_per_rev: CountsPerRev = 1 << 20
    hands: Hands = "spring"
    hands_stiffness_nm_rad: NonNegative = 20.0
    hands_damping_nms: NonNegative = 1.0
    amplitude_rad: PlantRad = math.pi / 3
    frequency_hz: NonNegative = 0.3
    offset_rad: PlantRad = 0.0
    start_s: NonNegativeS = 1.0
    name: str = "rigloop simulated CiA 402 drive"
    mailbox_bytes: Annotated[int, Field(ge=48, le=256)] = 128
    encoder_sign: Sign = 1
    torque_sign: Sign = 1
    encoder_offset_count: Annotated[int, Field(ge=-(2**31), lt=2**31)] = 0
    torque_factor: Positive = 1.0
    torque_delay_s: Annotated[float, Field(ge=0.0, le=0.05)] = 0.0
    torque_slope_nm_s: NonNegative = 0.0
    torque_outlasts_s: Annotated[float, Field(ge=0.0, le=1.0)] = 0.0
    torque_one_way: bool = False
    torque_clip_nm: NonNegative = 0.0
    torque_bias_nm: Real = 0.0
    torque_inverts_below_rad_s: NonNegative = 0.0
    spring_nm_rad: NonNegative = 0.0
    encoder_play_rad: NonNegative = 0.0
    encoder_stuck_bits: Annotated[int, Field(ge=0, lt=2**31)] = 0
    keeps_max_torque: bool = True
    has_watchdog: bool = True
    stop_wired: bool = True
    watchdog_once: bool = False
    says_no_torque: bool = False
    stop_does: Literal["end", "warn", "run on"] = "end"

    def __post_init__(self) -> None:
        check("drive plant", self)

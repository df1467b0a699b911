"""The schema of the slaves of a bus: drives, terminals, their setup, and their clocks.

The limits that have a name hold for the master, too, which takes them from here (`io_bridge/slaves`).
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from rig_configs.hazards import (
    LOST_BUS,
    OSCILLATION,
    RESTART,
    RUNAWAY,
    STALE_COMMAND,
    SUDDEN_RELEASE,
    SUDDEN_TORQUE,
    UNGUARDED_OUTPUT,
    WRONG_RIG,
    WRONG_SCALE,
    WRONG_SIGN,
    answers,
)
from rig_configs.names import Line, Word
from rig_configs.numbers import (
    NonNegativeUs,
    Positive,
    PositiveS,
    PositiveUs,
    Real,
    Scale,
)
from rig_configs.plants import Gauge, GaugeChannel, Plant
from rig_configs.section import Seconds, Section, Torque
from rt_core.settings import Sign

MOST_ENTRIES = 254
"""Largest number of entries of a PDO."""
MOST_CHANNELS = 32
"""Largest number of channels of a terminal, for inputs and for outputs."""
CountsPerRev = Annotated[int, Field(ge=4, le=2**31)]
# it cannot be off (the register has steps of 100 µs), and after a second nobody waits for it
WatchdogMs = Annotated[Real, Field(ge=0.1, le=1000)]
MOST_AXES = 8
Axis = Annotated[int, Field(ge=0, le=MOST_AXES - 1)]  # one 0x800 after the other
Mode = Literal["torque", "velocity", "position"]
MappingChoice = Literal["auto", "fixed", "explicit"]
AfterFault = Literal["hold", "resume"]
FirstBit = Annotated[int, Field(ge=0, le=8191)]
Bits = Annotated[int, Field(ge=1, le=32)]
Bits32 = Annotated[int, Field(ge=0, le=0xFFFFFFFF)]
ObjectName = Annotated[
    str, Field(pattern=r"^0x[0-9A-Fa-f]{4}:(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])$")
]
# an object and its bits; index 0x0000 is padding
PdoEntry = Annotated[
    str,
    Field(
        pattern=r"^0x[0-9A-Fa-f]{4}:(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])/(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9][0-9]?)$"
    ),
]
RX_PDOS, TX_PDOS = range(0x1600, 0x1800), range(0x1A00, 0x1C00)
RxIndex = Annotated[int, Field(ge=RX_PDOS[0], le=RX_PDOS[-1])]
TxIndex = Annotated[int, Field(ge=TX_PDOS[0], le=TX_PDOS[-1])]


def _one_of(indices: range) -> AfterValidator:
    def check(text: str) -> str:
        if not re.fullmatch(r"0x[0-9A-Fa-f]{4}", text) or int(text, 16) not in indices:
            first, last = indices[0], indices[-1]
            raise ValueError(
                f"is not the index of a PDO; write one from {first:#06x} to {last:#06x}"
            )
        return text

    return AfterValidator(check)


RxPdo = Annotated[str, _one_of(RX_PDOS)]
TxPdo = Annotated[str, _one_of(TX_PDOS)]


class Identity(Section):
    """The identity that the slave must report."""

    vendor: Annotated[Bits32, Field(examples=[2])]
    """The slave has this vendor number, object 0x1018:1."""
    product: Annotated[Bits32, Field(examples=[72100946])]
    """The slave has this product code, object 0x1018:2."""
    revision: Annotated[Bits32, Field(examples=[1114112])]
    """The slave has this revision, object 0x1018:3."""
    serial: Bits32 = 0
    """The slave has this serial number, object 0x1018:4; 0 stands for any."""


WHO = {"vendor": 2, "product": 72100946, "revision": 1114112}


class SdoWrite(Section):
    """An object that is written to a slave before it runs."""

    object: Annotated[ObjectName, Field(examples=["0x6072:0"])]
    """The object has this index and subindex."""
    value: Annotated[int, Field(ge=-(2**31), lt=2**32, examples=[1000])]
    """The object gets this value."""
    bytes: Annotated[Literal[1, 2, 4], Field(examples=[2])]
    """The size of the object."""


class Limits(Section):
    """The time limits of a slave; the defaults are those of ETG.1020, and an ESI may give others."""

    preop_s: Seconds = 3.0
    """The change from INIT to PREOP may take this time."""
    safeop_op_s: Seconds = 10.0
    """The change from PREOP to SAFEOP, and that from SAFEOP to OP, may each take this time."""
    back_s: Seconds = 5.0
    """The change to a lower state may take this time."""
    mailbox_request_s: Seconds = 0.1
    """A slave may leave a request in its mailbox for this time."""
    mailbox_response_s: Seconds = 2.0
    """The answer to a request may take this time."""


class Channel(Section):
    """A channel of some bits of a terminal's process data: port = scale x number + offset."""

    bit: Annotated[FirstBit, Field(examples=[16])]
    """The channel begins at this bit of the terminal's inputs or outputs."""
    bits: Bits = 1
    """The width of the channel."""
    signed: bool = False
    """The number is in two's complement."""
    scale: Scale = 1.0
    """The number is multiplied by this."""
    offset: Real = 0.0
    """This is added to the scaled number."""


class Terminal(Section):
    """A slave that is not a drive; a slave without channels is a coupler."""

    position: Annotated[int, Field(ge=0, le=65535, examples=[1])] | None = None
    """The slave has this position in the ring, from 0; slaves without a position fill the remaining ones."""
    identity: Annotated[Identity | None, Field(examples=[WHO]), answers(WRONG_RIG)] = None
    """The slave must report this identity; without this key nothing is checked."""
    device: Annotated[Line, Field(examples=["digital_io"])] | None = None
    """This device emulates the slave if the bus is simulated: a file, or a name of `rigloop sim-segment --list`."""
    gauges: Annotated[
        dict[GaugeChannel, Gauge],
        Field(examples=[{"0": {"drive": "wheel", "gauge": "twist", "volts_per_strain": 1e4}}]),
    ] = {}
    """These inputs of an analogue terminal, numbered from 0, measure strains of a drive's column if the bus is
    simulated."""
    inputs: Annotated[
        dict[Word, Channel], Field(max_length=MOST_CHANNELS, examples=[{"button": {"bit": 0}}])
    ] = {}
    """Each input channel is a port that the bus writes."""
    outputs: Annotated[
        dict[Word, Channel],
        Field(max_length=MOST_CHANNELS, examples=[{"lamp": {"bit": 0}}]),
        answers(UNGUARDED_OUTPUT),
    ] = {}
    """Each output channel is a port that the bus reads."""
    watchdog_ms: Annotated[WatchdogMs, answers(STALE_COMMAND, LOST_BUS, UNGUARDED_OUTPUT)] = 20.0
    """The slave's own watchdog ends its outputs after this time without a frame."""
    setup: Annotated[
        list[SdoWrite], Field(examples=[[{"object": "0x8000:6", "value": 1, "bytes": 1}]])
    ] = []
    """These objects are written in PREOP, also after a power cycle."""
    rx_assign: Annotated[list[RxPdo], Field(examples=[["0x1600"]])] = []
    """These PDOs are assigned to the outputs; the default is the slave's own assignment."""
    tx_assign: Annotated[list[TxPdo], Field(examples=[["0x1A00"]])] = []
    """These PDOs are assigned to the inputs; the default is the slave's own assignment."""
    limits: Limits = Limits()
    """The state changes and mailbox of the slave have these time limits."""
    after_fault: Annotated[AfterFault, answers(RESTART, UNGUARDED_OUTPUT)] = "hold"
    """After a fault the outputs stay at zero until the loop is armed again (`hold`), or follow at once (`resume`)."""


class Clock(Section):
    """The lock of the cycle to the distributed clocks of the bus."""

    shift_us: NonNegativeUs = 0.0
    """The frame passes the reference clock this time after the start of each period of system time."""
    sync0_shift_us: NonNegativeUs = 0.0
    """SYNC0 comes this time after the start of each period of system time."""
    bandwidth_hz: Positive = 2.0
    """The lock follows the reference clock with this bandwidth; faster changes count as jitter."""
    tolerance_us: Annotated[PositiveUs, answers(STALE_COMMAND)] = 20.0
    """The clocks are locked while they differ by less than this."""
    settle_s: PositiveS = 0.1
    """The clocks count as locked after this time within the tolerance."""
    timeout_s: PositiveS = 5.0
    """Locking may take this time."""
    difference_us: PositiveUs = 1.0
    """At bring-up each slave's clock must agree with the reference clock within this time."""


class Drive(Section):
    """A drive as the master sees it: identity, scaling and signs; and its plant for simulation."""

    position: Annotated[int, Field(ge=0, le=65535, examples=[0])] | None = None
    """The slave has this position in the ring, from 0; slaves without a position fill the remaining ones."""
    mode: Mode = "torque"
    """The drive follows a torque, a velocity or a position in cyclic synchronous mode."""
    velocity_limit_rad_s: Annotated[Positive, answers(RUNAWAY)] = 100.0
    """Velocity commands are limited to this value."""
    velocity_unit_counts_s: Annotated[Positive, answers(WRONG_SCALE)] = 1.0
    """The counts per second of one unit of 0x606C and 0x60FF."""
    quick_stop: Annotated[bool, answers(RUNAWAY, SUDDEN_RELEASE)] = False
    """A drive that is disabled brakes, instead of giving zero torque."""
    sync0: bool = False
    """The drive is synchronised to SYNC0."""
    setup: Annotated[
        list[SdoWrite], Field(examples=[[{"object": "0x6072:0", "value": 1000, "bytes": 2}]])
    ] = []
    """These objects are written in PREOP, also after a power cycle."""
    axis: Axis = 0
    """The drive is this axis of a slave with several axes, which share a position."""
    mapping: MappingChoice = "auto"
    """The drive's own mapping is used if it contains the needed objects or cannot be written (`auto`), always
    (`fixed`), or never (`explicit`)."""
    rx_pdo: Annotated[
        list[PdoEntry], Field(max_length=MOST_ENTRIES, examples=[["0x6040:0/16", "0x6071:0/16"]])
    ] = []
    """These objects are mapped to the outputs; by default the objects that the mode needs."""
    tx_pdo: Annotated[
        list[PdoEntry], Field(max_length=MOST_ENTRIES, examples=[["0x6041:0/16", "0x6064:0/32"]])
    ] = []
    """These objects are mapped to the inputs; by default the objects that the mode needs."""
    rx_assign: Annotated[list[RxPdo], Field(examples=[["0x1600"]])] = []
    """These PDOs are assigned to the outputs; the default is the drive's own assignment, or else 0x1600."""
    tx_assign: Annotated[list[TxPdo], Field(examples=[["0x1A00"]])] = []
    """These PDOs are assigned to the inputs; the default is the drive's own assignment, or else 0x1A00."""
    limits: Limits = Limits()
    """The state changes and mailbox of the slave have these time limits."""

    identity: Annotated[Identity | None, Field(examples=[WHO]), answers(WRONG_RIG)] = None
    """The slave must report this identity; without this key nothing is checked."""
    counts_per_rev: Annotated[CountsPerRev, answers(WRONG_SCALE)]
    """The counts of the encoder in one turn."""
    rated_torque_nm: Annotated[Torque, answers(WRONG_SCALE)]
    """The drive's torques are in thousandths of this torque, object 0x6076."""
    peak_torque_nm: Annotated[Torque, answers(SUDDEN_TORQUE, WRONG_SCALE)]
    """The drive gives at most this torque."""
    sign: Annotated[Sign, answers(WRONG_SIGN)] = 1
    """A drive with -1 counts and pushes against the rig's positive direction."""
    watchdog_ms: Annotated[WatchdogMs, answers(STALE_COMMAND, LOST_BUS)] = 20.0
    """The drive's own watchdog ends its torque after this time without a frame: the last line of defence."""
    torque_delay_ms: Annotated[Real, Field(ge=0.0, le=50.0), answers(OSCILLATION)] = 0.0
    """The drive needs this time from its frame to torque at the shaft, in addition to the lag of the current loop;
    `rigloop bench frf` measures both."""
    plant: Plant | None = None
    """The load of the simulated drive; it does not move a real drive."""
    device: Annotated[str, Field(examples=["bench_drive"])] | None = None
    """This device emulates the drive if the bus is simulated, in place of `plant`."""

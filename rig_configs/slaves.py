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
"""Of a PDO."""
MOST_CHANNELS = 32
"""Of a terminal, each way."""
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
    """An object that a slave gets before it runs."""

    object: Annotated[ObjectName, Field(examples=["0x6072:0"])]
    """The object is written by its index and subindex."""
    value: Annotated[int, Field(ge=-(2**31), lt=2**32, examples=[1000])]
    """The object gets this value."""
    bytes: Annotated[Literal[1, 2, 4], Field(examples=[2])]
    """The size of the object."""


class Limits(Section):
    """The times that a slave may take; the defaults are those of ETG.1020, an ESI may say otherwise."""

    preop_s: Seconds = 3.0
    """The way from INIT to PREOP may take so long."""
    safeop_op_s: Seconds = 10.0
    """The ways from PREOP to SAFEOP, and from there to OP, may take so long."""
    back_s: Seconds = 5.0
    """The way to a lower state may take so long."""
    mailbox_request_s: Seconds = 0.1
    """A slave may leave a request in its mailbox for so long."""
    mailbox_response_s: Seconds = 2.0
    """The answer to a request may take so long."""


class Channel(Section):
    """Some bits of a terminal's process data: port = scale x number + offset."""

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
    """A slave that is no drive; without channels a coupler."""

    position: Annotated[int, Field(ge=0, le=65535, examples=[1])] | None = None
    """The slave stands at this place of the ring, from 0; those without a position fill the rest."""
    identity: Annotated[Identity | None, Field(examples=[WHO]), answers(WRONG_RIG)] = None
    """The slave must say this of itself; without it nothing is checked."""
    device: Annotated[Line, Field(examples=["digital_io"])] | None = None
    """This device stands for the slave where the bus is simulated: a file, or a name of
    `rigloop sim-segment --list`."""
    gauges: Annotated[
        dict[GaugeChannel, Gauge],
        Field(examples=[{"0": {"drive": "wheel", "gauge": "twist", "volts_per_strain": 1e4}}]),
    ] = {}
    """Inputs of an analogue terminal, by their number from 0, measure strains of a drive's column where the bus is
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
    """The slave's own watchdog ends its outputs after so long without a frame."""
    setup: Annotated[
        list[SdoWrite], Field(examples=[[{"object": "0x8000:6", "value": 1, "bytes": 1}]])
    ] = []
    """These objects are written in PREOP, also after a power cycle."""
    rx_assign: Annotated[list[RxPdo], Field(examples=[["0x1600"]])] = []
    """These PDOs are assigned to the outputs; without them the slave keeps those that it has."""
    tx_assign: Annotated[list[TxPdo], Field(examples=[["0x1A00"]])] = []
    """These PDOs are assigned to the inputs; without them the slave keeps those that it has."""
    limits: Limits = Limits()
    """The slave may take so long."""
    after_fault: Annotated[AfterFault, answers(RESTART, UNGUARDED_OUTPUT)] = "hold"
    """After a fault the outputs stay at zero until armed again (`hold`), or follow at once (`resume`)."""


class Clock(Section):
    """The cycle in step with the distributed clocks of the bus."""

    shift_us: NonNegativeUs = 0.0
    """The frame passes the reference clock so long after each period of system time."""
    sync0_shift_us: NonNegativeUs = 0.0
    """SYNC0 comes so long after each period of system time."""
    bandwidth_hz: Positive = 2.0
    """The lock follows the reference clock with this bandwidth; what is faster is taken for jitter."""
    tolerance_us: Annotated[PositiveUs, answers(STALE_COMMAND)] = 20.0
    """The clocks are locked while they differ by less than this."""
    settle_s: PositiveS = 0.1
    """The clocks count as locked after so long within the tolerance."""
    timeout_s: PositiveS = 5.0
    """The lock may take so long."""
    difference_us: PositiveUs = 1.0
    """At bring-up each slave's clock must come so near to the reference clock."""


class Drive(Section):
    """A drive as the master sees it: identity, scaling and signs; and its plant where it is simulated."""

    position: Annotated[int, Field(ge=0, le=65535, examples=[0])] | None = None
    """The slave stands at this place of the ring, from 0; those without a position fill the rest."""
    mode: Mode = "torque"
    """The drive follows a torque, a velocity or a position, cyclic synchronous."""
    velocity_limit_rad_s: Annotated[Positive, answers(RUNAWAY)] = 100.0
    """Commands of velocity stay within this."""
    velocity_unit_counts_s: Annotated[Positive, answers(WRONG_SCALE)] = 1.0
    """The counts per second of one unit of 0x606C and 0x60FF."""
    quick_stop: Annotated[bool, answers(RUNAWAY, SUDDEN_RELEASE)] = False
    """A drive that is no longer enabled brakes, instead of giving no torque."""
    sync0: bool = False
    """The drive works on SYNC0."""
    setup: Annotated[
        list[SdoWrite], Field(examples=[[{"object": "0x6072:0", "value": 1000, "bytes": 2}]])
    ] = []
    """These objects are written in PREOP, also after a power cycle."""
    axis: Axis = 0
    """The drive is this axis of a slave with several, which share a position."""
    mapping: MappingChoice = "auto"
    """The drive's own mapping is used where it has what is needed or cannot be written (`auto`), always (`fixed`), or
    never (`explicit`)."""
    rx_pdo: Annotated[
        list[PdoEntry], Field(max_length=MOST_ENTRIES, examples=[["0x6040:0/16", "0x6071:0/16"]])
    ] = []
    """These objects are mapped to the outputs; without them what the mode needs."""
    tx_pdo: Annotated[
        list[PdoEntry], Field(max_length=MOST_ENTRIES, examples=[["0x6041:0/16", "0x6064:0/32"]])
    ] = []
    """These objects are mapped to the inputs; without them what the mode needs."""
    rx_assign: Annotated[list[RxPdo], Field(examples=[["0x1600"]])] = []
    """These PDOs are assigned to the outputs; without them those that the drive has, else 0x1600."""
    tx_assign: Annotated[list[TxPdo], Field(examples=[["0x1A00"]])] = []
    """These PDOs are assigned to the inputs; without them those that the drive has, else 0x1A00."""
    limits: Limits = Limits()
    """The slave may take so long."""

    identity: Annotated[Identity | None, Field(examples=[WHO]), answers(WRONG_RIG)] = None
    """The slave must say this of itself; without it nothing is checked."""
    counts_per_rev: Annotated[CountsPerRev, answers(WRONG_SCALE)]
    """The counts of the encoder in one turn."""
    rated_torque_nm: Annotated[Torque, answers(WRONG_SCALE)]
    """The drive's torques are thousandths of this one, object 0x6076."""
    peak_torque_nm: Annotated[Torque, answers(SUDDEN_TORQUE, WRONG_SCALE)]
    """The drive gives so much torque at most."""
    sign: Annotated[Sign, answers(WRONG_SIGN)] = 1
    """A drive with -1 counts and pushes against the rig's positive sense."""
    watchdog_ms: Annotated[WatchdogMs, answers(STALE_COMMAND, LOST_BUS)] = 20.0
    """The drive's own watchdog ends its torque after so long without a frame: the last net."""
    torque_delay_ms: Annotated[Real, Field(ge=0.0, le=50.0), answers(OSCILLATION)] = 0.0
    """From its frame to torque at the shaft the drive takes so long, beside the lag of the current loop;
    `rigloop bench frf` measures both."""
    plant: Plant | None = None
    """The load of the simulated drive; a real drive turns the real thing."""
    device: Annotated[str, Field(examples=["bench_drive"])] | None = None
    """This device stands for the drive where the bus is simulated, in place of `plant`."""

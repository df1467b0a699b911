"""What a rig file may say. Units stand in the key names; every limit has its reason beside it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from rig_configs.names import Line, SignalPath, Word
from rig_configs.numbers import (
    Bounded,
    NonNegative,
    NonNegativeMs,
    NonNegativeS,
    NonNegativeUs,
    Percent,
    Positive,
    PositiveMs,
    PositiveS,
    PositiveUs,
    Real,
)

Fraction = Annotated[Real, Field(ge=0.0, le=1.0)]
# what counts cycles: with the longest period it stays within 64 bits of nanoseconds
Cycles = Annotated[int, Field(ge=1, le=1_000_000_000)]
Torque = Annotated[Real, Field(ge=1e-6, le=1e6)]  # 0x6076 has 32 bits
Bits32 = Annotated[int, Field(ge=0, le=0xFFFFFFFF)]
Sign = Literal[-1, 1]
Interface = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,15}$")]


class Section(BaseModel):
    """A table of the file: no unknown key, no silent conversion, frozen once loaded."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class Task(Section):
    """One periodic thread and the blocks that it steps, in order."""

    period_us: Annotated[int, Field(ge=50, le=1_000_000)]
    blocks: Annotated[list[Word], Field(min_length=1)]
    priority: Annotated[int, Field(ge=1, le=98)] = 80  # 99 belongs to the kernel's own threads
    core: Annotated[int, Field(ge=0, le=8191)] | None = None
    # spent spinning before each deadline; auto: from two seconds of wake-ups, measured at the start
    spin_us: Annotated[int, Field(ge=0, le=1_000_000)] | Literal["auto"] = 0
    overrun: Literal["skip", "safe", "stop"] = "skip"
    overrun_limit: Annotated[int, Field(ge=1, le=64)] = (
        3  # points: an overrun 1, of its own making 2
    )
    overrun_window: Cycles = 10  # cycles in which so many points are too many
    count_stolen: bool = True  # false: overruns that the host made give no point
    late_limit_us: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = (
        None  # cycles begun later are kept; the period
    )
    off_core: Literal["count", "safe"] = "count"  # its thread runs on another core than its own
    stall_cycles: Cycles = 3  # without a new cycle: the watchdog takes over


class Identity(Section):
    """What the slave must say of itself; 0 as the serial number means any."""

    vendor: Bits32
    product: Bits32
    revision: Bits32
    serial: Bits32 = 0


class Plant(Section):
    """What a simulated drive turns: motor, wheel, and the driver's hands."""

    inertia_kg_m2: Positive
    viscous_nms: NonNegative
    coulomb_nm: NonNegative
    torque_lag_s: NonNegativeS = 0.0005
    hands: Literal["prescribed", "spring", "free"] = "spring"
    hands_stiffness_nm_rad: NonNegative = 20.0
    hands_damping_nms: NonNegative = 1.0
    amplitude_deg: Real = 60.0
    frequency_hz: NonNegative = 0.3
    offset_deg: Real = 0.0
    start_s: NonNegativeS = 1.0


class SdoWrite(Section):
    """An object that a slave gets before it runs: `object = "0x6072:0"`."""

    object: Annotated[str, Field(pattern=r"^0x[0-9A-Fa-f]{4}:(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])$")]
    value: Annotated[int, Field(ge=-(2**31), lt=2**32)]
    bytes: Literal[1, 2, 4]


# an object and its bits; index 0x0000 is padding
PdoEntry = Annotated[
    str,
    Field(
        pattern=r"^0x[0-9A-Fa-f]{4}:(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])/(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9][0-9]?)$"
    ),
]
RxPdo = Annotated[str, Field(pattern=r"^0x1[67][0-9A-Fa-f]{2}$")]
TxPdo = Annotated[str, Field(pattern=r"^0x1[ABab][0-9A-Fa-f]{2}$")]
Seconds = Annotated[Real, Field(gt=0.0, le=600.0)]


class Limits(Section):
    """How long a slave may take; the defaults are those of ETG.1020, an ESI may say otherwise."""

    preop_s: Seconds = 3.0  # from INIT
    safeop_op_s: Seconds = 10.0  # from PREOP to SAFEOP, and from there to OP
    back_s: Seconds = 5.0  # to a lower state
    mailbox_request_s: Seconds = 0.1
    mailbox_response_s: Seconds = 2.0


class Channel(Section):
    """Some bits of a terminal's process data: port = scale x number + offset."""

    bit: Annotated[int, Field(ge=0, le=8191)]
    bits: Annotated[int, Field(ge=1, le=32)] = 1
    signed: bool = False
    scale: Real = 1.0
    offset: Real = 0.0


class Terminal(Section):
    """A slave that is no drive; without channels a coupler."""

    position: Annotated[int, Field(ge=0, le=65535)] | None = None
    identity: Identity | None = None
    device: Line | None = None  # what stands for it where the bus is simulated: a device file
    inputs: dict[Word, Channel] = {}
    outputs: dict[Word, Channel] = {}
    watchdog_ms: Annotated[Real, Field(ge=0.1, le=1000)] = 20.0
    setup: list[SdoWrite] = []  # written in PREOP, also after a power cycle
    rx_assign: list[RxPdo] = []  # PDOs to assign; empty: those that it has
    tx_assign: list[TxPdo] = []
    limits: Limits = Limits()
    after_fault: Literal["hold", "resume"] = "hold"  # outputs stay at zero until armed again


class Clock(Section):
    """The cycle in step with the distributed clocks of the bus."""

    shift_us: NonNegativeUs = (
        0.0  # of the frame at the reference clock, after each period of system time
    )
    sync0_shift_us: NonNegativeUs = 0.0
    bandwidth_hz: Positive = 2.0  # of the lock; faster is taken for jitter
    tolerance_us: PositiveUs = 20.0
    settle_s: PositiveS = 0.1  # within the tolerance for so long: locked
    timeout_s: PositiveS = 5.0
    difference_us: PositiveUs = 1.0  # of a slave's clock, waited for at bring-up


class Drive(Section):
    """A drive as the master sees it: identity, scaling and signs; and its plant where it is simulated."""

    position: Annotated[int, Field(ge=0, le=65535)] | None = (
        None  # in the ring; those without fill the rest
    )
    mode: Literal["torque", "velocity", "position"] = "torque"  # cyclic synchronous
    velocity_limit_rad_s: Positive = 100.0  # of commands
    velocity_unit_counts_s: Positive = 1.0  # one unit of 0x606C and 0x60FF
    quick_stop: bool = False  # no longer enabled it brakes, instead of letting go
    sync0: bool = False  # it works on SYNC0
    setup: list[SdoWrite] = []  # written in PREOP, also after a power cycle
    axis: Annotated[int, Field(ge=0, le=7)] = 0  # of a slave with several, which share a position
    # auto: its own mapping, where that has what is needed or cannot be written; fixed: always; explicit: never
    mapping: Literal["auto", "fixed", "explicit"] = "auto"
    rx_pdo: Annotated[list[PdoEntry], Field(max_length=254)] = []  # empty: what the mode needs
    tx_pdo: Annotated[list[PdoEntry], Field(max_length=254)] = []
    rx_assign: list[RxPdo] = []  # PDOs to assign; empty: those that it has, else 0x1600 and 0x1A00
    tx_assign: list[TxPdo] = []
    limits: Limits = Limits()

    identity: Identity | None = None  # not checked if not given
    counts_per_rev: Annotated[int, Field(ge=4, le=2**31)]
    rated_torque_nm: Torque
    peak_torque_nm: Torque
    sign: Sign = 1  # -1: it counts and pushes against the rig's positive sense
    watchdog_ms: Annotated[Real, Field(ge=0.1, le=1000)] = 20.0  # the drive's own last net
    # from its frame to torque at the shaft, beside the lag of the current loop; `rigloop bench frf` measures both
    torque_delay_ms: Annotated[Real, Field(ge=0.0, le=50.0)] = 0.0
    plant: Plant | None = None
    device: str | None = None  # what stands for it where the bus is simulated, in place of `plant`


class BusBlock(Section):
    """Exchange one EtherCAT frame a cycle with the drives, in ring order."""

    kind: Literal["bus"]
    backend: Interface = "simulated"
    second_interface: Interface | None = None  # where the last slave's cable comes back to
    # auto: pysoem, with our own registers where a slave needs them
    bringup: Literal["auto", "pysoem", "rigloop"] = "auto"
    drives: dict[Word, Drive] = {}
    terminals: dict[Word, Terminal] = {}
    clock: Clock | None = None
    exchange_budget_us: Annotated[int, Field(ge=20, le=1_000_000)] = 100
    bad_limit: Cycles = 3  # bad cycles on end until the bus counts as lost
    leak_cycles: Cycles = 10  # good cycles by which one bad cycle is forgotten
    reads: dict[SignalPath, SignalPath] = {}
    writes: dict[SignalPath, SignalPath] = {}


def from_the_covariance(gains: str) -> str:
    """Refuse fixed gains of an encoder filter."""
    if gains != "time_varying":
        raise ValueError(
            "fixed gains make an unstable filter as soon as cycles or samples are skipped, which "
            "any loop may do; leave the key out: gains follow the covariance over the time between "
            "two samples, and cost the same"
        )
    return gains


class EncoderFilterBlock(Section):
    """Kalman filter: count → angle, rate, acceleration."""

    kind: Literal["encoder_filter"]
    counts_per_rev: Positive
    counter_span: NonNegative = float(2**32)  # counts after which the counter starts anew; 0: never
    sign: Sign = 1
    zero_count: Real = 0.0
    bandwidth_rad_s: Positive = 310.4  # 6.4 ms lag on the acceleration
    model: Literal["constant_velocity", "constant_acceleration", "constant_jerk"] = (
        "constant_acceleration"
    )
    gains: Annotated[str, AfterValidator(from_the_covariance)] = "time_varying"
    noise_rad: Positive | None = None  # of a sample; that of the rounding to counts
    gate_nis: NonNegative = 0.0  # larger normalised innovations are rejected; 0: no such gate
    lost_after_ms: PositiveMs = 20.0  # without a sample for so long it starts anew
    reads: dict[SignalPath, SignalPath]
    writes: dict[SignalPath, SignalPath] = {}


class MechanismBlock(Section):
    """One step of a generated multibody kernel."""

    kind: Literal["mechanism"]
    mechanism: Line
    # of codegen.options.options.KernelOptions, which checks them; the step is the period of the task
    options: dict[str, bool | int | Real | str | list[str]] = {}
    parameters: dict[str, Real] = {}
    reads: dict[SignalPath, SignalPath] = {}
    writes: dict[SignalPath, SignalPath] = {}


class ObserverSensor(Section):
    """A sensor of an observer, and how its samples come; other keys are those of its kind in `codegen.sensors`."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Bounded]

    kind: str
    std: Positive  # of a sample's noise, in the sensor's unit
    every: Cycles = 1  # periods of the task from sample to sample
    scale: Real = 1.0  # sample = scale x signal + offset
    offset: Real = 0.0


SensorName = Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]


class ObservingBlock(Section):
    """What all observers of a mechanism have, generated with it: `docs/observers.md`."""

    mechanism: Line
    independent: list[str] = []  # empty: those that move most in the pose of the file
    unknown: list[str] = []  # input signals that are estimated
    input_noise: dict[str, Positive] = {}  # of those that walk at random: unit squared per s
    gate_sigma: NonNegative = 6.0  # innovations beyond are rejected; 0: no such gate
    gate_patience: Cycles = 20  # rejected in a row, then believed
    # as of a mechanism
    options: dict[str, bool | int | Real | str | list[str]] = {}
    parameters: dict[str, Real] = {}
    reads: dict[SignalPath, SignalPath]
    writes: dict[SignalPath, SignalPath] = {}


class ObserverBlock(ObservingBlock):
    """A state observer."""

    kind: Literal["observer"]
    method: Literal["errorEKF", "DEKF", "UKF", "CEKF", "DIEKFpm", "projectionEKF"] = "errorEKF"
    sensors: Annotated[dict[SensorName, ObserverSensor], Field(min_length=1)]
    acceleration_noise: list[Positive]  # white, of each coordinate: rad^2/s^3 or m^2/s^3
    start_std: list[Positive]
    start: list[Real] | None = None  # that of the mechanism's file
    transition: Literal["published", "exact"] = "exact"


class TwoStageBlock(ObservingBlock):
    """Motion from encoders and accelerometers without forces, then forces from the motion."""

    kind: Literal["two_stage_observer"]
    sensors: dict[SensorName, ObserverSensor] = {}  # none: the motion is read
    known_std: dict[str, Positive] = {}  # of each measured force, as many as unknown ones
    form: Literal["A", "B"] = "A"  # solved for the known or the unknown forces; the others walk
    balance_std: dict[str, Positive] = {}  # of what the dynamics give in a cycle, of each solved
    held_noise: Positive = 1.0  # of an acceleration in a cycle with blind accelerometers
    least_sensitivity: Positive = 1e-3  # below it accelerometers are blind


class RelayBlock(Section):
    """Torque of the sign of an angle, for `rigloop bench latency`."""

    kind: Literal["relay"]
    torque_nm: Positive
    reads: dict[SignalPath, SignalPath]
    writes: dict[SignalPath, SignalPath] = {}


class ExcitationBlock(Section):
    """A sum of sines added to the torque request, for `rigloop bench frf`; it starts once the guard has ramped in."""

    kind: Literal["excitation"]
    amplitude_nm: Positive  # peak
    base_hz: Annotated[Real, Field(ge=0.01, le=100.0)]
    harmonics: Annotated[
        list[Annotated[int, Field(ge=1, le=100_000)]], Field(min_length=1, max_length=256)
    ]
    ramp_s: PositiveS = 1.0
    reads: dict[SignalPath, SignalPath]
    writes: dict[SignalPath, SignalPath] = {}


class Rearm(Section):
    """Arming again within a run, after a bus fault that is over; ramped in from zero as the first time."""

    after: Literal["bus"]  # and nothing else: never after a limit, a heartbeat or a block
    at_most: Annotated[int, Field(ge=1, le=100)]  # times a run
    settle_s: Annotated[Real, Field(ge=0.1, le=60.0)] = 1.0  # good for so long before it
    within_s: Annotated[Real, Field(gt=0.0, le=600.0)] = 10.0  # of the trip; then the run ends
    reset_drive: bool = (
        False  # a drive that the silence has put into its fault state is reset for it
    )


class GuardBlock(Section):
    """The last gate before the actuator. Times are those of the clock: skipped cycles count."""

    kind: Literal["guard"]
    limit_nm: Positive
    rate_nm_s: Positive  # of outputs: after a gap the first one steps no further than ever
    request_sign: Sign  # -1: the guide holds the mechanism, so the motor turns against the hands
    # torque at the wheel over the request; `rigloop check` says from which gain on the wheel would sing
    request_gain: Annotated[Real, Field(gt=0.0, le=1000.0)] = 1.0
    max_angle_rad: Positive
    max_rate_rad_s: Positive
    ramp_in_s: NonNegativeS = 0.5
    ramp_out_s: Annotated[Real, Field(ge=0, le=0.1)] = 0.02
    # of bad samples, and of requests that are no number, bridged; 5 and 3 ms, or as many periods if that is longer
    sensor_hold_ms: NonNegativeMs | None = None
    request_hold_ms: NonNegativeMs | None = None
    # bad samples: bad time counts twice, a good cycle takes a period away; four times sensor_hold_ms
    sensor_bucket_ms: NonNegativeMs | None = None
    # the same of skipped time; twice max_gap_ms, so that one gap alone does not fill it
    skip_bucket_ms: NonNegativeMs | None = None
    max_request_age_ms: PositiveMs = 5.0
    max_gap_ms: PositiveMs = 5.0
    heartbeat_timeout_ms: PositiveMs = 200.0
    rearm: Rearm | None = None  # a run whose torque has let go ends
    reads: dict[SignalPath, SignalPath]
    writes: dict[SignalPath, SignalPath] = {}


Block = Annotated[
    BusBlock
    | EncoderFilterBlock
    | MechanismBlock
    | ObserverBlock
    | TwoStageBlock
    | RelayBlock
    | ExcitationBlock
    | GuardBlock,
    Field(discriminator="kind"),
]


class Roles(Section):
    """Which signals the live table and the report show as what."""

    angle: SignalPath | None = None
    rate: SignalPath | None = None
    torque: SignalPath | None = None
    command: SignalPath | None = None
    measured_torque: SignalPath | None = None
    virtual_torque: SignalPath | None = None  # of an observer, shown beside the measured one
    signals: list[SignalPath] = []  # any others, each by its path


class Verdict(Section):
    """What a run must keep to be called good."""

    max_overrun_percent: NonNegative = 1.0  # judged only when the run had real-time rights
    max_lost_percent: NonNegative = 0.0
    # of `rigloop bench latency`: p99.9 without the drive, beyond a period of the simulation
    max_latency_ms: PositiveMs = 0.5
    # what the driver's hand feels: time from one fresh command at the drive to the next, and the step across it
    max_command_gap_ms: PositiveMs = 10.0
    max_torque_step_nm: Positive = 1.0
    # of the armed time with the request at the guard's limit, in all and in one piece
    max_saturated_percent: Percent = 10.0
    max_saturated_s: PositiveS = 1.0
    # net work of the motor on the hands: a passive model gives back what it got, a wrong request_sign gives more;
    # what limit_nm does over half a radian
    max_given_j: Positive | None = None
    max_rearmed: Annotated[int, Field(ge=0, le=100)] = (
        0  # times that the torque went and came back, see Rearm
    )
    # of filters and observers: mean normalised innovation squared, 1 for the right noise. Rounding is all that an
    # encoder filter knows of noise: a lively wheel on a fine encoder comes to more, and is judged by its motion
    max_nis: Positive = 1e4
    max_refused_percent: Percent = 2.0  # of samples, by a gate
    max_left_out_percent: Percent = 50.0  # of samples, by a filter that had lost the signal
    max_missing_percent: Percent = 20.0  # of the samples that should have come; judged in replay
    max_bad_status_percent: Percent = 1.0  # of cycles without a position


class Rig(Section):
    """A whole rig file."""

    title: Line
    tasks: Annotated[dict[Word, Task], Field(min_length=1)]
    blocks: Annotated[dict[Word, Block], Field(min_length=1)]
    show: Roles = Roles()  # without one, the first channels of the terminals
    verdict: Verdict = Verdict()

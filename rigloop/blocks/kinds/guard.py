"""The last block before the actuator: it keeps the torque finite, limits it, ramps it in and out, and limits its rate.

Each drive has its own guard, and the guards are the last blocks of the task that has their bus. Times are clock times:
skipped cycles count. Each trip ends at exactly zero torque; `reach` determines whether other guards trip with it.
`docs/guard.md` has the states and the table of trips.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from rig_configs.hazards import (
    FALSE_SENSOR,
    LOST_BUS,
    LOST_STOP,
    OSCILLATION,
    OTHER_AXIS,
    RESTART,
    RUNAWAY,
    STALE_COMMAND,
    SUDDEN_RELEASE,
    SUDDEN_TORQUE,
    SUSTAINED_FORCE,
    WRONG_SCALE,
    WRONG_SIGN,
    WRONG_TORQUE,
    answers,
)
from rig_configs.mistakes import Mistake
from rig_configs.names import SignalPath, Word
from rig_configs.numbers import IN_FILE, IN_MS, IN_S, Real
from rig_configs.schema import BlockTable, Rig
from rig_configs.section import Section
from rigloop.blocks.axes import drives_of, guards_of, reaching
from rigloop.blocks.kind import BlockKind, Making, Port, constant, written
from rigloop.blocks.usual import MS, TURNS, S
from rt_core.plan import LOOP_SIGNALS, loop_signal
from rt_core.safety.guard import MOST_OTHERS, READS, WRITES, Guard, other_ports
from rt_core.safety.trips import Gain, GuardConfig, Limit, Ms, RampIn, RampOut
from rt_core.settings import Sign

# of a ramp out by the rate limit alone; a fault that takes longer to end is one that goes on
MOST_TO_ZERO_S = 10.0
UP_TO_A_DAY = Field(le=86_400e3)  # ms


class Rearm(Section):
    """Rearming within a run, after a bus fault that is over; the torque ramps in from zero as usual."""

    after: Annotated[Literal["bus"], Field(examples=["bus"]), answers(RESTART)]
    """The guard is rearmed only after a fault of the bus, never after a limit, a heartbeat or a failed block."""
    at_most: Annotated[int, Field(ge=1, le=100, examples=[3]), answers(RESTART)]
    """The guard is rearmed at most this number of times in a run."""
    settle_s: Annotated[Real, Field(ge=0.1, le=60.0), answers(RESTART)] = 1.0
    """The bus must have been good for this time before the guard is rearmed."""
    within_s: Annotated[Real, Field(gt=0.0, le=600.0), answers(RESTART)] = 10.0
    """The bus must be good within this time after the trip; otherwise the run ends."""
    reset_drive: Annotated[bool, answers(RESTART)] = False
    """A drive that went into its fault state because of the silence is reset."""


class GuardBlock(BlockTable):
    """The last gate before the actuator. Times are those of the clock: skipped cycles count."""

    kind: Literal["guard"]
    limit_nm: Annotated[
        Limit, IN_FILE, answers(SUDDEN_TORQUE, WRONG_TORQUE, WRONG_SCALE, SUSTAINED_FORCE)
    ]
    """The torque stays within plus and minus this."""
    rate_nm_s: Annotated[Limit, IN_FILE, answers(SUDDEN_TORQUE, SUDDEN_RELEASE)]
    """The largest rate of the torque from one output to the next; after a gap, the first output may not change by
    more than usual."""
    request_sign: Annotated[Sign, answers(WRONG_SIGN)]
    """The request is multiplied by this: -1 if the request is the torque that holds the mechanism, so that the motor
    acts against the hands."""
    request_gain: Annotated[Gain, IN_FILE, answers(OSCILLATION, WRONG_SCALE)] = 1.0
    """The torque at the wheel divided by the request; `rigloop check` gives the gain at which the wheel would sing."""
    max_angle_rad: Annotated[Limit, IN_FILE, answers(RUNAWAY)]
    """An angle beyond plus and minus this trips the guard."""
    max_rate_rad_s: Annotated[Limit, IN_FILE, answers(RUNAWAY, WRONG_SIGN)]
    """A rate beyond plus and minus this trips the guard."""
    ramp_in_s: Annotated[RampIn, IN_S, answers(SUDDEN_TORQUE, RESTART)] = 0.5
    """After arming, the torque rises over this time."""
    ramp_out_s: Annotated[RampOut, IN_S, answers(SUDDEN_RELEASE)] = 0.02
    """After a trip or a stop the torque falls over this time."""
    reach: Annotated[Literal["axis", "group", "all"], answers(OTHER_AXIS)] = "all"
    """A trip of this guard ends the torque of this axis only, of the axes with the same `group`, or of all axes."""
    group: Annotated[Word, Field(examples=["pedals"]), answers(OTHER_AXIS)] | None = None
    """The guard belongs to this group: if another guard of the group with the reach `group` trips, this torque ends
    too."""
    preset: Annotated[Literal["bench", "rig"], answers(STALE_COMMAND, FALSE_SENSOR, LOST_STOP)] = (
        "bench"
    )
    """The times below suit an ordinary machine with emulated or weak drives (`bench`), or are the strict times of a
    tuned machine (`rig`). A given key overrides the preset."""
    sensor_hold_ms: (
        Annotated[Ms, IN_MS, UP_TO_A_DAY, Field(examples=[5.0]), answers(FALSE_SENSOR, LOST_BUS)]
        | None
    ) = None
    """Bad samples are bridged for this time; by preset 50 ms (`bench`) or 5 ms (`rig`), or five periods if that is
    longer."""
    request_hold_ms: (
        Annotated[Ms, IN_MS, UP_TO_A_DAY, Field(examples=[3.0]), answers(WRONG_TORQUE)] | None
    ) = None
    """Requests that are NaN are bridged for this time; the default is 3 ms, or three periods if that is longer."""
    sensor_bucket_ms: (
        Annotated[Ms, IN_MS, UP_TO_A_DAY, Field(examples=[20.0]), answers(FALSE_SENSOR)] | None
    ) = None
    """More intermittent bad time than this trips the guard: time of bad samples counts twice, and each good cycle
    subtracts a period. The default is four times `sensor_hold_ms`."""
    skip_bucket_ms: (
        Annotated[Ms, IN_MS, UP_TO_A_DAY, Field(examples=[10.0]), answers(STALE_COMMAND)] | None
    ) = None
    """Skipped time counts in the same way; the default is five times `max_gap_ms` (`bench`) or twice (`rig`), so that
    one gap alone does not fill it."""
    max_request_age_ms: (
        Annotated[Limit, IN_MS, UP_TO_A_DAY, Field(examples=[5.0]), answers(STALE_COMMAND)] | None
    ) = None
    """A request that is older trips the guard; by preset 50 ms (`bench`) or 5 ms (`rig`)."""
    max_gap_ms: (
        Annotated[Limit, IN_MS, UP_TO_A_DAY, Field(examples=[5.0]), answers(STALE_COMMAND)] | None
    ) = None
    """A longer time between two cycles of its task trips the guard; by preset 50 ms (`bench`) or 5 ms (`rig`)."""
    heartbeat_timeout_ms: (
        Annotated[Limit, IN_MS, UP_TO_A_DAY, Field(examples=[200.0]), answers(LOST_STOP)] | None
    ) = None
    """The guard trips after this time without a supervisor heartbeat; by preset 1000 ms (`bench`) or 200 ms (`rig`)."""
    rearm: Rearm | None = None
    """The guard may be rearmed within a run; without this table a run ends when its torque has ended."""
    reads: dict[SignalPath, SignalPath]


@dataclass(frozen=True)
class Preset:
    """The times that hold where a rig gives none."""

    sensor_hold_ms: float
    max_request_age_ms: float
    max_gap_ms: float
    heartbeat_timeout_ms: float
    gaps: float
    """The bucket of skipped time, in gaps of `max_gap_ms`."""


PRESETS = {
    # an ordinary machine keeps a thread waiting for some tens of milliseconds now and then
    "bench": Preset(50.0, 50.0, 50.0, 1000.0, 5.0),
    "rig": Preset(5.0, 5.0, 5.0, 200.0, 2.0),
}
SENSOR_PERIODS = 5  # bad samples that are bridged at least, in periods
REQUEST_HOLD = (
    3.0,
    3,
)  # of requests that are NaN: ms, and periods; no machine makes them, so no preset has them
GIVEN_RAD = (
    0.5  # over which the limit torque does the work that a run may give, where a rig says nothing
)


def guard_config(rig: Rig, name: str, config: GuardBlock) -> GuardConfig:
    """Return the limits of a guard, with those that the rig leaves open."""
    period_ms = rig.period_us(name) * 1e-3
    preset = PRESETS[config.preset]
    hold_ms = max(preset.sensor_hold_ms, SENSOR_PERIODS * period_ms)
    sensor_hold_ms = _given(config.sensor_hold_ms, hold_ms)
    max_gap_ms = _given(config.max_gap_ms, preset.max_gap_ms)
    return GuardConfig(
        limit_nm=config.limit_nm,
        rate_nm_s=config.rate_nm_s,
        request_sign=config.request_sign,
        request_gain=config.request_gain,
        max_angle_rad=config.max_angle_rad,
        max_rate_rad_s=config.max_rate_rad_s,
        ramp_in_s=config.ramp_in_s,
        ramp_out_s=config.ramp_out_s,
        max_request_age_ms=_given(config.max_request_age_ms, preset.max_request_age_ms),
        max_gap_ms=max_gap_ms,
        sensor_hold_ms=sensor_hold_ms,
        request_hold_ms=_given(
            config.request_hold_ms, max(REQUEST_HOLD[0], REQUEST_HOLD[1] * period_ms)
        ),
        sensor_bucket_ms=_given(config.sensor_bucket_ms, 4.0 * sensor_hold_ms),
        skip_bucket_ms=_given(config.skip_bucket_ms, preset.gaps * max_gap_ms),
        heartbeat_timeout_ms=_given(config.heartbeat_timeout_ms, preset.heartbeat_timeout_ms),
        request_period_ms=_request_period_ms(rig, config),
    )


def limit_words(rig: Rig, name: str, limit: str) -> str:
    """Return where a limit comes from that trips a guard: its preset, in words; empty where the rig gives it.

    Parameters
    ----------
    limit : str
        Its key.
    """
    config = guards_of(rig)[name]
    if getattr(config, limit, 0.0) is not None:
        return ""
    value_ms = getattr(guard_config(rig, name, config), limit)
    said = f"limit {value_ms:g} ms by preset {config.preset!r}"
    others = {
        other: getattr(guard_config(rig, name, config.model_copy(update={"preset": other})), limit)
        for other in PRESETS
        if other != config.preset
    }
    if all(ms == value_ms for ms in others.values()):
        return ""  # no preset has it
    wider = [f"{other!r} bridges {ms:g} ms" for other, ms in others.items() if ms > value_ms]
    return "; ".join([said, *wider, f"blocks.{name}.{limit} sets another"])


def max_given_j(rig: Rig, config: GuardBlock) -> float:
    """Return the net work that the motor may do on the hands in a good run."""
    return _given(rig.verdict.max_given_j, GIVEN_RAD * config.limit_nm)


def beside(rig: Rig, name: str, config: GuardBlock) -> dict[str, str]:
    """Return what a guard can know without having been wired to it: which block failed, whether the frame of this
    cycle reached the drive that it commands, and the state of each guard whose fault reaches it."""
    found = {}
    signals = {loop_signal(task, s): task for task in rig.tasks for s in LOOP_SIGNALS}
    for fault, block in (("own_fault", "own_block"), ("request_fault", "request_block")):
        task = signals.get(config.reads.get(fault, ""))
        if task is not None and config.reads[fault] == loop_signal(task, "fault"):
            found[block] = loop_signal(task, "fault_block")
    for bus, drive in drives_of(rig, name):
        delivered = f"{drive}/valid"
        found["delivered"] = written(bus, rig.blocks[bus], (delivered,))[delivered]
    for other in reaching(rig, name):
        state, trip = other_ports(other)
        paths = written(other, rig.blocks[other], ("state", "trip"))
        found |= {state: paths["state"], trip: paths["trip"]}
    return found


def _request_period_ms(rig: Rig, config: GuardBlock) -> float:
    cycle = config.reads.get("request_cycle", "")
    return next(
        (t.period_us * 1e-3 for n, t in rig.tasks.items() if loop_signal(n, "cycle") == cycle), 0.0
    )


def _given(value: float | None, default: float) -> float:
    return default if value is None else value


def make(making: Making) -> Guard:
    """Return the guard of a rig."""
    rig, name, config = making.rig, making.name, making.block
    reads = beside(rig, name, config) | making.reads(READS)
    return Guard(
        guard_config(rig, name, config),
        period_ns=1000 * making.period_us,
        reads=reads,
        writes=making.writes(WRITES),
        name=name,
    )


def mistakes(file: str, rig: Rig, name: str) -> Iterator[Mistake]:
    """Find limits with which the torque of a guard would not end, and a reach without guards."""
    config = rig.blocks[name]
    assert isinstance(config, GuardBlock)
    if not config.limit_nm <= MOST_TO_ZERO_S * config.rate_nm_s:
        problem = (
            f"from limit_nm = {config.limit_nm:g} the torque takes "
            f"{config.limit_nm / config.rate_nm_s:.3g} s to zero, at most {MOST_TO_ZERO_S:g} s"
        )
        remedy = f"at least {config.limit_nm / MOST_TO_ZERO_S:.3g}, or a lower limit_nm"
        yield Mistake(file, f"blocks.{name}.rate_nm_s", problem, remedy, config.rate_nm_s)
    yield from _reach_mistakes(file, rig, name, config)


def _reach_mistakes(file: str, rig: Rig, name: str, config: GuardBlock) -> Iterator[Mistake]:
    if config.reach == "group" and config.group is None:
        problem = "the reach is a group, and the guard belongs to none"
        remedy = f"give blocks.{name}.group, or another reach"
        yield Mistake(file, f"blocks.{name}.reach", problem, remedy, config.reach)
    alike = [n for n, g in guards_of(rig).items() if g.group == config.group and n != name]
    if config.group is not None and not alike:
        problem = "no other guard belongs to this group"
        yield Mistake(file, f"blocks.{name}.group", problem, "name it in another one", config.group)
    if len(found := reaching(rig, name)) > MOST_OTHERS:
        problem = f"the faults of {len(found)} guards reach this one, at most {MOST_OTHERS}"
        yield Mistake(file, f"blocks.{name}", problem, "give some of them the reach `axis`")


IN_PORTS = (
    Port("torque_request_nm", "Nm", "The torque that the model requests.", usual="*/guide/torque_nm"),
    Port(
        "request_cycle", "1", "The cycle counter of the requesting task: a request is new when the counter "
                              "changes.",
        usual="loop/*/cycle",
    ),
    Port("request_fault", "1", "The fault of the requesting task.", usual="loop/*/fault"),
    Port("own_fault", "1", "The fault of the guard's own task.", usual="loop/TASK/fault"),
    Port("own_cycle", "1", "The cycle counter of the guard's own task.", usual="loop/TASK/cycle"),
    Port("elapsed", "1", "Periods since the last executed cycle of the guard's own task.", usual="loop/TASK/elapsed"),
    Port("sensor_valid", "1", "1: angle and rate are good.", usual="*/trusted"),
    Port("angle_rad", "rad", "The angle of the actuator.", usual="*/angle_rad"),
    Port("rate_rad_s", "rad/s", "The rate of the actuator.", usual="*/rate_rad_s"),
    Port("actuator_ready", "1", "1: the drive follows its command.", usual="*/operational"),
    Port("heartbeat", "1", "A number that the supervisor changes while it is alive.", usual="supervisor/heartbeat"),
    Port("arm", "1", "Its rising edge arms the guard.", usual="supervisor/arm"),
    Port("stop", "1", "1: the supervisor requests zero torque.", usual="supervisor/stop"),
    Port("own_stop", "1", "1: the process was asked to stop.", usual="loop/TASK/stop"),
    Port("own_block", "1", "The block that failed in the guard's own task; not wired: derived from `own_fault`.", True),
    Port("request_block", "1", "The block that failed in the requesting task; not wired: derived from "
                               "`request_fault`.", True),
    Port("delivered", "1", "1: this cycle's frame reached the drive; not wired: derived from the wiring.", True),
)  # fmt: skip
OUT_PORTS = (
    Port("torque_nm", "Nm", "The torque for the drive."),
    Port("state", "1", "0 INIT, 1 READY, 2 RUNNING, 3 HOLD, 4 STOPPING, 5 FAULT."),
    Port("safe", "1", "1: the torque is zero until the guard is armed."),
    Port("ramp", "1", "The gain of the ramp, 0 to 1."),
    Port("waits_for", "1", "In INIT and FAULT, the code of the trip condition that still prevents arming."),
    Port("trip", "1", "The code of the first trip since arming."),
    Port("trip_value", None, "The value that tripped, in the unit of its limit."),
    Port("trip_limit", None, "The limit that the value exceeded."),
    Port("trip_cycle", "1", "The cycle of the trip."),
    Port("trip_fault", "1", "The fault of the task in that cycle."),
    Port("trip_block", "1", "The block that failed in that cycle."),
    Port("trip_delivered", "1", "1: the frame of that cycle reached the drive."),
    Port("gap_ms", "ms", "The age of the request that the command follows."),
    Port("longest_gap_ms", "ms", "The largest such age."),
    Port("longest_gap_cycle", "1", "The cycle in which this longest gap ended."),
    Port("gap_step_nm", "Nm", "The largest step of the command across a gap."),
    Port("gap_step_cycle", "1", "The cycle of that step."),
    Port("active_ms", "ms", "The time for which the guard has followed the request."),
    Port("saturated_ms", "ms", "The time for which the request was at its limit."),
    Port("longest_saturated_ms", "ms", "The longest such time without interruption."),
    Port("given_j", "J", "The work of the torque on the hands minus the work of the hands on the motor, with "
                         "slow forgetting."),
    Port("most_given_j", "J", "The largest such work."),
)  # fmt: skip

KIND = BlockKind(
    name="guard",
    schema=GuardBlock,
    ports=constant(IN_PORTS, OUT_PORTS),
    make=make,
    about=__doc__,
    mistakes=mistakes,
    usual={
        "limit_nm": (0.01, 1000.0, "mNm are Nm/1000"),
        "max_angle_rad": (0.02, 1e3, TURNS),
        "max_rate_rad_s": (0.1, 2e4, TURNS),
        "ramp_in_s": (1e-3, 30.0, S),
        "ramp_out_s": (1e-3, 0.1, S),
        "sensor_hold_ms": (0.05, 2000.0, MS),
        "request_hold_ms": (0.05, 2000.0, MS),
        "sensor_bucket_ms": (0.05, 10_000.0, MS),
        "skip_bucket_ms": (0.05, 10_000.0, MS),
        "max_request_age_ms": (0.1, 2000.0, MS),
        "max_gap_ms": (0.1, 2000.0, MS),
        "heartbeat_timeout_ms": (5.0, 5000.0, MS),
    },
)

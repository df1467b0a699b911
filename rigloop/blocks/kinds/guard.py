"""The last gate before the actuator: finite, within a limit, ramped in and out, and rate-limited last.

It is the last block of the task that has the bus. Its times are those of the clock: skipped cycles count. Each trip
ends at exactly zero torque; `docs/guard.md` has the states and the table of trips.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from rig_configs.mistakes import Mistake
from rig_configs.names import SignalPath
from rig_configs.numbers import NonNegativeMs, NonNegativeS, Positive, PositiveMs, Real
from rig_configs.schema import BlockTable, Rig
from rig_configs.section import Section, Sign
from rigloop.blocks.kind import BlockKind, Making, Port, constant, written
from rigloop.blocks.usual import MS, TURNS, S
from rt_core.plan import LOOP_SIGNALS, loop_signal
from rt_core.safety.guard import READS, WRITES, Guard
from rt_core.safety.trips import GuardConfig

# of a ramp out by the rate limit alone; a fault that takes longer to end is one that goes on
MOST_TO_ZERO_S = 10.0


class Rearm(Section):
    """Arming again within a run, after a bus fault that is over; ramped in from zero as the first time."""

    after: Annotated[Literal["bus"], Field(examples=["bus"])]
    """The guard arms again after a fault of the bus and nothing else: never after a limit, a heartbeat or a block."""
    at_most: Annotated[int, Field(ge=1, le=100, examples=[3])]
    """The guard arms again so many times a run."""
    settle_s: Annotated[Real, Field(ge=0.1, le=60.0)] = 1.0
    """The bus must have been good for so long before."""
    within_s: Annotated[Real, Field(gt=0.0, le=600.0)] = 10.0
    """The bus must be good within so long after the trip; then the run ends."""
    reset_drive: bool = False
    """A drive that the silence has put into its fault state is reset."""


class GuardBlock(BlockTable):
    """The last gate before the actuator. Times are those of the clock: skipped cycles count."""

    kind: Literal["guard"]
    limit_nm: Positive
    """The torque stays within plus and minus this."""
    rate_nm_s: Positive
    """The torque changes no faster from one output to the next: after a gap the first one steps no further than
    ever."""
    request_sign: Sign
    """The request is multiplied by this: -1 where the guide holds the mechanism, and the motor turns against the
    hands."""
    request_gain: Annotated[Real, Field(gt=0.0, le=1000.0)] = 1.0
    """The torque at the wheel is so many times the request; `rigloop check` says from which gain on the wheel would
    sing."""
    max_angle_rad: Positive
    """An angle beyond plus and minus this trips the guard."""
    max_rate_rad_s: Positive
    """A rate beyond plus and minus this trips the guard."""
    ramp_in_s: NonNegativeS = 0.5
    """Once armed, the torque rises over this time."""
    ramp_out_s: Annotated[Real, Field(ge=0, le=0.1)] = 0.02
    """After a trip or a stop the torque falls over this time."""
    sensor_hold_ms: Annotated[NonNegativeMs, Field(examples=[5.0])] | None = None
    """Bad samples are bridged for so long; the default is 5 ms, or five periods if that is longer."""
    request_hold_ms: Annotated[NonNegativeMs, Field(examples=[3.0])] | None = None
    """Requests that are no number are bridged for so long; the default is 3 ms, or three periods if that is longer."""
    sensor_bucket_ms: Annotated[NonNegativeMs, Field(examples=[20.0])] | None = None
    """Bad time of the samples counts twice, and a good cycle takes a period away: more than this trips the guard. The
    default is four times `sensor_hold_ms`."""
    skip_bucket_ms: Annotated[NonNegativeMs, Field(examples=[10.0])] | None = None
    """Skipped time counts in the same way; the default is twice `max_gap_ms`, so that one gap alone does not fill
    it."""
    max_request_age_ms: PositiveMs = 5.0
    """A request that is older trips the guard."""
    max_gap_ms: PositiveMs = 5.0
    """A longer time between two cycles of its task trips the guard."""
    heartbeat_timeout_ms: PositiveMs = 200.0
    """So long without a heartbeat of the supervisor trips the guard."""
    rearm: Rearm | None = None
    """The guard may arm again within a run; without this table a run whose torque has ended ends."""
    reads: dict[SignalPath, SignalPath]


# of bad samples, and of bad requests, that are bridged where a rig says nothing: ms, and periods
SENSOR_HOLD = (5.0, 5)
REQUEST_HOLD = (3.0, 3)
GIVEN_RAD = (
    0.5  # over which the limit torque does the work that a run may give, where a rig says nothing
)


def guard_config(rig: Rig, name: str, config: GuardBlock) -> GuardConfig:
    """Return the limits of a guard, with those that the rig leaves open."""
    period_ms = rig.period_us(name) * 1e-3
    sensor_hold_ms = _hold_ms(config.sensor_hold_ms, SENSOR_HOLD, period_ms)
    return GuardConfig(
        limit_nm=config.limit_nm,
        rate_nm_s=config.rate_nm_s,
        request_sign=config.request_sign,
        request_gain=config.request_gain,
        max_angle_rad=config.max_angle_rad,
        max_rate_rad_s=config.max_rate_rad_s,
        ramp_in_s=config.ramp_in_s,
        ramp_out_s=config.ramp_out_s,
        max_request_age_ms=config.max_request_age_ms,
        max_gap_ms=config.max_gap_ms,
        sensor_hold_ms=sensor_hold_ms,
        request_hold_ms=_hold_ms(config.request_hold_ms, REQUEST_HOLD, period_ms),
        sensor_bucket_ms=_given(config.sensor_bucket_ms, 4.0 * sensor_hold_ms),
        skip_bucket_ms=_given(config.skip_bucket_ms, 2.0 * config.max_gap_ms),
        heartbeat_timeout_ms=config.heartbeat_timeout_ms,
        request_period_ms=_request_period_ms(rig, config),
    )


def max_given_j(rig: Rig, config: GuardBlock) -> float:
    """Return the net work that the motor may do on the hands in a good run."""
    return _given(rig.verdict.max_given_j, GIVEN_RAD * config.limit_nm)


def beside(rig: Rig, name: str, config: GuardBlock) -> dict[str, str]:
    """Return what a guard can know without having been wired to it: which block failed, and whether the frame of
    this cycle reached the drive that it commands."""
    found = {}
    signals = {loop_signal(task, s): task for task in rig.tasks for s in LOOP_SIGNALS}
    for fault, block in (("own_fault", "own_block"), ("request_fault", "request_block")):
        task = signals.get(config.reads.get(fault, ""))
        if task is not None and config.reads[fault] == loop_signal(task, "fault"):
            found[block] = loop_signal(task, "fault_block")
    torque = written(name, config, ("torque_nm",))["torque_nm"]
    for bus, exchange in rig.blocks.items():
        if exchange.kind == "bus":
            for port, path in exchange.reads.items():
                slave, _, command = port.rpartition("/")
                if path == torque and command == "torque_nm":
                    delivered = f"{slave}/valid"
                    found["delivered"] = written(bus, exchange, (delivered,))[delivered]
    return found


def _request_period_ms(rig: Rig, config: GuardBlock) -> float:
    cycle = config.reads.get("request_cycle", "")
    return next(
        (t.period_us * 1e-3 for n, t in rig.tasks.items() if loop_signal(n, "cycle") == cycle), 0.0
    )


def _hold_ms(given: float | None, default: tuple[float, int], period_ms: float) -> float:
    return _given(given, max(default[0], default[1] * period_ms))


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
    """Find limits that a guard would refuse, or with which its torque would not end."""
    config = rig.blocks[name]
    assert isinstance(config, GuardBlock)
    limits = guard_config(rig, name, config)
    for mistake in limits.mistakes():
        key, _, rest = mistake.partition(" = ")
        problem = rest.partition(" ")[2]
        yield Mistake(file, f"blocks.{name}.{key}", problem, value=getattr(limits, key))
    if not config.limit_nm <= MOST_TO_ZERO_S * config.rate_nm_s:
        problem = (
            f"from limit_nm = {config.limit_nm:g} the torque takes "
            f"{config.limit_nm / config.rate_nm_s:.3g} s to zero, at most {MOST_TO_ZERO_S:g} s"
        )
        remedy = f"at least {config.limit_nm / MOST_TO_ZERO_S:.3g}, or a lower limit_nm"
        yield Mistake(file, f"blocks.{name}.rate_nm_s", problem, remedy, config.rate_nm_s)


IN_PORTS = (
    Port("torque_request_nm", "Nm", "The torque that the model asks for."),
    Port("request_cycle", "1", "The cycle counter of the requesting task: a request is new when it moves."),
    Port("request_fault", "1", "The fault of the requesting task."),
    Port("own_fault", "1", "The fault of the guard's own task."),
    Port("own_cycle", "1", "The cycle counter of the guard's own task."),
    Port("elapsed", "1", "Periods since the last executed cycle of the guard's own task."),
    Port("sensor_valid", "1", "1: angle and rate are good."),
    Port("angle_rad", "rad", "The angle of the actuator."),
    Port("rate_rad_s", "rad/s", "The rate of the actuator."),
    Port("actuator_ready", "1", "1: the drive follows its command."),
    Port("heartbeat", "1", "A number of the supervisor that changes while it lives."),
    Port("arm", "1", "Its rising edge arms the guard."),
    Port("stop", "1", "1: the supervisor asks for zero torque."),
    Port("own_stop", "1", "1: the process was asked to stop."),
    Port("own_block", "1", "The block that failed in the own task; bare: found by `own_fault`.", True),
    Port("request_block", "1", "The block that failed in the requesting task; bare: found by `request_fault`.", True),
    Port("delivered", "1", "1: this cycle's frame reached the drive; bare: found by the wiring.", True),
)  # fmt: skip
OUT_PORTS = (
    Port("torque_nm", "Nm", "The torque for the drive."),
    Port("state", "1", "0 INIT, 1 READY, 2 RUNNING, 3 HOLD, 4 STOPPING, 5 FAULT."),
    Port("safe", "1", "1: the torque is zero and stays so until armed."),
    Port("ramp", "1", "The gain of the ramp, 0 to 1."),
    Port("waits_for", "1", "In INIT and FAULT the code of the trip that is not good."),
    Port("trip", "1", "The code of the first trip since arming."),
    Port("trip_value", None, "The value that tripped, in the unit of its limit."),
    Port("trip_limit", None, "The limit that it passed."),
    Port("trip_cycle", "1", "The cycle of the trip."),
    Port("trip_fault", "1", "The fault of the task in that cycle."),
    Port("trip_block", "1", "The block that failed in that cycle."),
    Port("trip_delivered", "1", "1: the frame of that cycle reached the drive."),
    Port("gap_ms", "ms", "The request that the command follows was new so long ago."),
    Port("longest_gap_ms", "ms", "The longest such time."),
    Port("longest_gap_cycle", "1", "The cycle in which it ended."),
    Port("gap_step_nm", "Nm", "The largest step of the command across a gap."),
    Port("gap_step_cycle", "1", "The cycle of that step."),
    Port("active_ms", "ms", "The guard has followed the request for so long."),
    Port("saturated_ms", "ms", "The request was at its limit for so long."),
    Port("longest_saturated_ms", "ms", "The longest piece of it."),
    Port("given_j", "J", "The work of the torque on the hands less theirs on it, slowly forgotten."),
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

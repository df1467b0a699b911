"""The table of faults: what each does, where it acts, and what a rig states to do about it, within how many cycles.

Bounds are in cycles of the task that has the guard, counted from the cycle in which the fault begins to the one that
finds it; a RAMP then takes `GuardConfig.cycles_to_zero`, SAFE none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from io_bridge.segment_link import Order
from rigloop.inject.limits import Limits
from rt_core.inject import Act
from rt_core.plan import OFF_CORE_EVERY, loop_signal

SUPERVISOR_LOOKS_S = 0.05  # 20 ms between two looks at signals, and an ordinary process's turn
ENDING_S = 0.1  # from a signal to zero torque
WATCHDOG, STOP = "watchdog", "stop"


class Reaction(StrEnum):
    """What a rig does about a fault."""

    COUNT = "COUNT"  # goes on
    HOLD = "HOLD"  # last good value, for a few cycles, then goes on
    RAMP = "RAMP"  # torque to zero by a ramp, latched
    SAFE = "SAFE"  # zero at once, latched
    DRIVE = "DRIVE"  # nothing of ours is left: the drive's own watchdog


@dataclass(frozen=True)
class Stated:
    """What a rig states about one fault."""

    reaction: Reaction
    found_by: tuple[str, ...]
    """Trips of the guard, `watchdog`, `stop`, or the signal that counts it; any of them."""
    detect: int
    """Cycles from the fault to what finds it, at most."""
    zero: int | None
    """Cycles from the fault to zero torque, at most; None: the torque goes on."""


@dataclass(frozen=True)
class InCycle:
    """A block put into a task: what it does, where, and for how long."""

    place: Literal["head", "sensor", "estimate", "guide", "work"]
    act: Act
    cells: tuple[str, ...] = ()  # of limits.sensor_cells
    cycles: int = 1  # 0: to the end
    every: int = 1
    order: Order = Order.NO_ORDER
    scale: float = 1.0  # from the argument's unit to the block's


@dataclass(frozen=True)
class ToProcess:
    """Something done to a process of the run from outside."""

    whom: Literal["supervisor", "cycle", "recorder", "telemetry"]
    do: str  # a signal's name, or FILL_DISK
    back_s: float = 0.0  # a stopped process goes on after so long; 0: when the cycle process has ended


@dataclass(frozen=True)
class Argument:
    """The number behind a fault's name."""

    unit: str
    default: Callable[[Limits], float]
    least: float
    most: float


@dataclass(frozen=True)
class Fault:
    """One row of the table."""

    name: str
    does: str
    acts: InCycle | ToProcess
    bound: str  # in words, for a reader
    states: Callable[[Limits, float], Stated]
    argument: Argument | None = None
    needs: Literal["", "simulated", "veth", "telemetry"] = ""

    @property
    def where(self) -> str:
        """Where it acts."""
        if isinstance(self.acts, ToProcess):
            return f"{self.acts.whom} process"
        return {
            "head": "bus",
            "sensor": "sensor",
            "estimate": "estimation task",
            "guide": "model",
            "work": "simulation task",
        }[self.acts.place]


def _count(signal: Callable[[Limits], str], detect: Callable[[Limits], int]) -> Callable[[Limits, float], Stated]:
    return lambda lim, value: Stated(Reaction.COUNT, (signal(lim),), detect(lim), None)


def _ramp(trips: Iterable[str], detect: Callable[[Limits], int]) -> Callable[[Limits, float], Stated]:
    return lambda lim, value: Stated(Reaction.RAMP, tuple(trips), detect(lim), detect(lim) + lim.ramp)


def _safe(trips: Iterable[str], detect: Callable[[Limits], int]) -> Callable[[Limits, float], Stated]:
    return lambda lim, value: Stated(Reaction.SAFE, tuple(trips), detect(lim), detect(lim))


def _hold(lim: Limits, value: float) -> Stated:
    return Stated(Reaction.HOLD, ("HOLD",), 1, None)


def _unharmed(lim: Limits, value: float) -> Stated:
    return Stated(Reaction.COUNT, (), 0, None)


def _sensor_bad(lim: Limits) -> int:
    # cycles without a sample, the first one counted: more than the guard holds, or worth a full bucket
    return min(lim.guard.sensor_hold_cycles, math.ceil(lim.guard.bucket_limit / 2) - 1)


def _bus_bad(lim: Limits, value: float) -> Stated:
    # the bus gives its drives up after bad_limit cycles, unless the guard's patience with the sensor ends before
    lost = lim.bus.bad_limit - 1
    if lost <= _sensor_bad(lim):
        return Stated(Reaction.SAFE, ("ACTUATOR_LOST",), lost, lost)
    bad = _sensor_bad(lim)
    return Stated(Reaction.RAMP, ("SENSOR_LOST", "SENSOR_FLICKERS"), bad, bad + lim.ramp)


def _many_overruns(lim: Limits, value: float) -> Stated:
    if lim.slow_task.overrun != "safe":
        return Stated(Reaction.COUNT, (loop_signal(lim.slow, "overruns_own"),), lim.slow_cycles(3), None)
    detect = lim.slow_cycles(lim.slow_task.overrun_window)
    return Stated(Reaction.RAMP, ("REQUEST_FAULT",), detect, detect + lim.ramp)


def _off_core(lim: Limits, value: float) -> Stated:
    if lim.fast_task.off_core != "safe":
        return Stated(Reaction.COUNT, (loop_signal(lim.fast, "off_core"),), OFF_CORE_EVERY, None)
    return Stated(Reaction.RAMP, ("OWN_FAULT",), OFF_CORE_EVERY, OFF_CORE_EVERY + lim.ramp)


def _request_late(lim: Limits) -> int:
    return min(lim.guard.max_request_age_cycles + lim.slow_cycles(1), lim.stall(lim.slow_task)) + 2


def _asked_to_end(lim: Limits, value: float) -> Stated:
    return Stated(
        Reaction.RAMP, (STOP,), lim.cycles(ENDING_S) - lim.ramp, max(lim.cycles(ENDING_S), lim.ramp)
    )


def _parent_died(lim: Limits, value: float) -> Stated:
    detect = lim.cycles(SUPERVISOR_LOOKS_S)
    return Stated(Reaction.RAMP, (STOP,), detect, detect + lim.ramp)


def _drive_watchdog(lim: Limits, value: float) -> Stated:
    detect = lim.cycles(max(drive.watchdog_ms for drive in lim.bus.drives.values()) * 1e-3) + 3
    return Stated(Reaction.DRIVE, ("drive watchdog",), detect, detect)


def _cycles(default: int) -> Argument:
    return Argument("cycles", lambda lim: default, 1, 1e6)


def _slow_us(periods: float) -> Argument:
    return Argument("µs", lambda lim: periods * lim.slow_task.period_us, 1, 1e7)


def _fast_us(periods: float) -> Argument:
    return Argument("µs", lambda lim: periods * lim.fast_task.period_us, 1, 1e7)


NAN = Argument("", lambda lim: math.nan, -math.inf, math.inf)
US = 1000.0

ROWS = (
    # the cycle's time
    Fault("overrun", "one step of the model's task takes longer than its period", InCycle("work", Act.BURN, scale=US),
          "the next cycle of that task", _count(lambda lim: loop_signal(lim.slow, "overruns_own"),
          lambda lim: lim.slow_cycles(3)), _slow_us(1.5)),
    Fault("overruns-model", "each step of the model's task takes longer than its period",
          InCycle("work", Act.BURN, cycles=0, scale=US), "overrun_window periods", _many_overruns,
          _slow_us(1.5)),
    Fault("overruns", "each cycle of the guard's task takes longer than its period",
          InCycle("estimate", Act.BURN, cycles=0, scale=US), "bucket_limit / 2 overruns",
          _ramp(("OVERRUNS_MANY", "OWN_FAULT"), lambda lim: math.ceil(lim.guard.bucket_limit / 2) + 1), _fast_us(1.5)),
    Fault("late-wake", "a thread of higher priority has the core when the guard's task is to wake",
          InCycle("estimate", Act.HOLD_CORE, scale=US), "the next cycle",
          _count(lambda lim: loop_signal(lim.fast, "overruns_late_wake"), lambda lim: 3), _fast_us(2.0)),
    Fault("stolen", "a thread of higher priority takes the core in the middle of a cycle",
          InCycle("estimate", Act.STEAL, scale=US), "the next cycle",
          _count(lambda lim: loop_signal(lim.fast, "overruns_stolen"), lambda lim: 3), _fast_us(2.0)),
    Fault("time-gap", "the core is taken for longer than the guard allows",
          InCycle("estimate", Act.HOLD_CORE, scale=US), "the next cycle", _ramp(("TIME_GAP",), lambda lim: 3),
          Argument("µs", lambda lim: 1.2e6 * lim.guard.max_gap_cycles * lim.period_s, 1, 1e7)),
    Fault("model-hang", "the model's step never ends", InCycle("work", Act.HANG),
          "max_request_age, or stall_cycles and two looks of the watchdog",
          _ramp(("REQUEST_STALE", WATCHDOG, STOP), _request_late)),
    Fault("cycle-hang", "the cycle that has the drive never ends", InCycle("estimate", Act.HANG),
          "stall_cycles and two looks of the watchdog",
          _safe((WATCHDOG,), lambda lim: lim.stall(lim.fast_task))),
    Fault("off-core", "the guard's thread runs on another core than its own", InCycle("estimate", Act.MOVE),
          "one look each 1000 cycles", _off_core),
    # the sensor
    Fault("sensor-nan", "no count but NaN, for good", InCycle("sensor", Act.SET, ("count",), cycles=0),
          "sensor_hold_cycles", _ramp(("SENSOR_LOST", "SENSOR_FLICKERS"), _sensor_bad), NAN),
    Fault("sensor-nan-blip", "no count but NaN, for one cycle", InCycle("sensor", Act.SET, ("count",)), "that cycle",
          _hold, NAN),
    Fault("sensor-flicker", "every second sample is invalid", InCycle("sensor", Act.SET, ("valid",), cycles=0, every=2),
          "2 × bucket_limit", _ramp(("SENSOR_FLICKERS",), lambda lim: 2 * lim.guard.bucket_limit)),
    Fault("sensor-stale", "the drive repeats its last inputs and clock under right working counters",
          InCycle("head", Act.ORDER, cycles=0, order=Order.FREEZE), "bad_limit, or sensor_hold_cycles if less",
          _bus_bad, needs="simulated"),
    Fault("sensor-jump", "the count jumps and stays there", InCycle("sensor", Act.ADD, ("count",), cycles=0),
          "that cycle", _hold, Argument("counts", lambda lim: 1e5, -1e9, 1e9)),
    Fault("angle-range", "an angle beyond what the rig allows", InCycle("estimate", Act.SET, ("angle",), cycles=0),
          "that cycle", _ramp(("ANGLE_LIMIT",), lambda lim: 0),
          Argument("rad", lambda lim: 1.01 * lim.guard.max_angle_rad, -1e6, 1e6)),
    Fault("rate-range", "a rate beyond what the rig allows", InCycle("estimate", Act.SET, ("rate",), cycles=0),
          "that cycle", _ramp(("RATE_LIMIT",), lambda lim: 0),
          Argument("rad/s", lambda lim: -1.01 * lim.guard.max_rate_rad_s, -1e6, 1e6)),
    # the bus
    Fault("wkc-low", "the drive leaves its inputs out, for good",
          InCycle("head", Act.ORDER, cycles=0, order=Order.REFUSE_INPUTS),
          "bad_limit, or sensor_hold_cycles if less", _bus_bad, needs="simulated"),
    Fault("wkc-low-blip", "the drive leaves its inputs out, for one cycle",
          InCycle("head", Act.ORDER, order=Order.REFUSE_INPUTS), "that cycle", _hold, needs="simulated"),
    Fault("frame-lost", "one frame is lost", InCycle("head", Act.ORDER, order=Order.LOSE_FRAME), "that cycle", _hold,
          needs="simulated"),
    Fault("link-down", "every frame is lost", InCycle("head", Act.ORDER, cycles=0, order=Order.LOSE_FRAME),
          "bad_limit, or sensor_hold_cycles if less", _bus_bad, needs="simulated"),
    Fault("al-error", "the drive leaves OP with an AL error",
          InCycle("head", Act.ORDER, cycles=0, order=Order.LOSE_OPERATION), "the next cycle",
          _safe(("ACTUATOR_LOST",), lambda lim: 1), needs="simulated"),
    Fault("drive-fault", "the drive breaks down: CiA 402 fault, over-current",
          InCycle("head", Act.ORDER, cycles=0, order=Order.FAIL_DRIVE), "the next cycle",
          _safe(("ACTUATOR_LOST",), lambda lim: 1), needs="simulated"),
    Fault("drive-watchdog", "the drive's own watchdog runs out",
          InCycle("head", Act.ORDER, cycles=0, order=Order.END_WATCHDOG), "the next cycle",
          _safe(("ACTUATOR_LOST",), lambda lim: 1), needs="simulated"),
    # the model and its request
    Fault("model-guide-nan", "the model is guided to no number", InCycle("guide", Act.SET, ("guide",), cycles=0),
          "the next request", _ramp(("REQUEST_FAULT",), lambda lim: lim.slow_cycles(1)), NAN),
    Fault("model-diverges", "the model is guided to where it cannot be assembled",
          InCycle("guide", Act.SET, ("guide",), cycles=0), "the next request",
          _ramp(("REQUEST_FAULT",), lambda lim: lim.slow_cycles(1)), Argument("rad", lambda lim: 1e3, -1e300, 1e300)),
    Fault("model-fault", "a block of the model's task fails", InCycle("work", Act.FAIL, cycles=0), "the next request",
          _ramp(("REQUEST_FAULT",), lambda lim: lim.slow_cycles(1)), Argument("code", lambda lim: 99, 1, 1e6)),
    Fault("block-fault", "a block of the guard's task fails", InCycle("estimate", Act.FAIL, cycles=0), "that cycle",
          _ramp(("OWN_FAULT",), lambda lim: 0), Argument("code", lambda lim: 99, 1, 1e6)),
    Fault("request-nan", "the torque request is no number, for good",
          InCycle("estimate", Act.SET, ("request",), cycles=0), "request_hold_cycles",
          _ramp(("REQUEST_NOT_FINITE",), lambda lim: lim.guard.request_hold_cycles), NAN),
    Fault("request-nan-blip", "the torque request is no number, for one cycle",
          InCycle("estimate", Act.SET, ("request",)), "that cycle", _hold, NAN),
    Fault("request-huge", "the torque request is far beyond the limit",
          InCycle("estimate", Act.SET, ("request",), cycles=0), "that cycle: clamped and rate-limited", _unharmed,
          Argument("Nm", lambda lim: 1e300, -1e308, 1e308)),
    Fault("request-stale", "the model's task is busy for longer than a request may be old",
          InCycle("work", Act.BURN, scale=US), "max_request_age",
          _ramp(("REQUEST_STALE", WATCHDOG, STOP), _request_late),
          Argument("µs", lambda lim: 1.4e6 * lim.guard.max_request_age_cycles * lim.period_s, 1, 1e7)),
    # processes
    Fault("supervisor-stop", "the supervisor hangs (SIGSTOP)", ToProcess("supervisor", "SIGSTOP"),
          "heartbeat_timeout", _ramp(("HEARTBEAT_LOST",), lambda lim: lim.cycles(lim.guard.heartbeat_timeout_s) + 2)),
    Fault("supervisor-term", "SIGTERM to the supervisor", ToProcess("supervisor", "SIGTERM"), "100 ms in all",
          _asked_to_end),
    Fault("supervisor-int", "Ctrl-C", ToProcess("supervisor", "SIGINT"), "100 ms in all", _asked_to_end),
    Fault("supervisor-kill", "SIGKILL to the supervisor", ToProcess("supervisor", "SIGKILL"), "50 ms", _parent_died),
    Fault("cycle-term", "SIGTERM to the cycle process", ToProcess("cycle", "SIGTERM"), "50 ms", _parent_died),
    Fault("cycle-kill", "SIGKILL to the cycle process", ToProcess("cycle", "SIGKILL"), "the drive's watchdog",
          _drive_watchdog, needs="veth"),
    Fault("recorder-stop", "the recorder hangs for a while (SIGSTOP)", ToProcess("recorder", "SIGSTOP", 0.2),
          "the loop goes on, the record is whole", _unharmed),
    Fault("recorder-kill", "SIGKILL to the recorder", ToProcess("recorder", "SIGKILL"), "the loop goes on", _unharmed),
    Fault("disk-full", "the record can grow no more", ToProcess("recorder", "FILL_DISK"),
          "the loop goes on, every row that is not written is counted", _unharmed),
    Fault("telemetry-stop", "telemetry hangs for a while (SIGSTOP)", ToProcess("telemetry", "SIGSTOP", 0.2),
          "the loop goes on", _unharmed, needs="telemetry"),
    Fault("telemetry-kill", "SIGKILL to telemetry", ToProcess("telemetry", "SIGKILL"), "the loop goes on", _unharmed,
          needs="telemetry"),
)  # fmt: skip

FAULTS = {fault.name: fault for fault in ROWS}

NOT_INJECTABLE = {
    "out of memory": "it would take the machine's other users along; what the loop needs is locked and touched before "
    "it starts, and a strict run refuses to start without the lock",
    "wall clock step": "the clock belongs to all of the machine; the loop reads CLOCK_MONOTONIC alone, which a test "
    "shows with a wall clock that is shifted for its processes only",
    "core goes offline": "needs the right to take a core away from everybody; its effect is `off-core`",
    "host steal": "the host's own; its effect is `stolen`, by a thread of higher priority",
    "no RT rights, governor, group share": "conditions of the start, not of a run: `rigloop doctor`, `--mode strict`",
    "config error": "found before anything starts: `rigloop check`",
    "command client dies": "there is none yet; the supervisor is the only one that commands, see `supervisor-stop`",
    "power loss of a drive": "to the master the same as `link-down`; the rest is the drive's own",
}

"""The table of faults: what each does, where it acts, and what a rig states to do about it, within how many cycles.

Bounds are in cycles of the task that has the guard, counted from the cycle in which the fault begins to the one that
finds it; a RAMP then takes `GuardConfig.cycles_to_zero`, SAFE none.
"""

from __future__ import annotations

import math

from io_bridge.segment_link import Order
from rigloop.inject.bounds import (
    BACK_IN_OP_S,
    NAN,
    US,
    asked_to_end,
    bus_bad,
    cable_out,
    counts,
    drive_watchdog,
    fast_us,
    goes_on,
    holds,
    many_overruns,
    off_core,
    parent_died,
    ramps,
    request_late,
    ring_open,
    safe,
    sensor_bad,
    slow_us,
)
from rigloop.inject.kinds import STOP, WATCHDOG, Argument, Fault, InCycle, ToProcess, ToWire
from rt_core.inject import Act
from rt_core.plan import loop_signal

CABLE_BACK_S = 0.5

ROWS = (
    # the cycle's time
    Fault("overrun", "one step of the model's task takes longer than its period", InCycle("work", Act.BURN, scale=US),
          "the next cycle of that task", counts(lambda lim: loop_signal(lim.slow, "overruns_own"),
          lambda lim: lim.slow_cycles(3)), slow_us(1.5)),
    Fault("overruns-model", "each step of the model's task takes longer than its period",
          InCycle("work", Act.BURN, cycles=0, scale=US), "overrun_window periods", many_overruns,
          slow_us(1.5)),
    Fault("overruns", "each cycle of the guard's task takes longer than its period",
          InCycle("estimate", Act.BURN, cycles=0, scale=US), "bucket_limit / 2 overruns",
          ramps(("OVERRUNS_MANY", "OWN_FAULT"), lambda lim: math.ceil(lim.guard.bucket_limit / 2) + 1), fast_us(1.5)),
    Fault("late-wake", "a thread of higher priority has the core when the guard's task is to wake",
          InCycle("estimate", Act.HOLD_CORE, scale=US), "the next cycle",
          counts(lambda lim: loop_signal(lim.fast, "overruns_late_wake"), lambda lim: 3), fast_us(2.0)),
    Fault("stolen", "a thread of higher priority takes the core in the middle of a cycle",
          InCycle("estimate", Act.STEAL, scale=US), "the next cycle",
          counts(lambda lim: loop_signal(lim.fast, "overruns_stolen"), lambda lim: 3), fast_us(2.0)),
    Fault("time-gap", "the core is taken for longer than the guard allows",
          InCycle("estimate", Act.HOLD_CORE, scale=US), "the next cycle", ramps(("TIME_GAP",), lambda lim: 3),
          Argument("µs", lambda lim: 1.2e6 * lim.guard.max_gap_cycles * lim.period_s, 1, 1e7)),
    Fault("model-hang", "the model's step never ends", InCycle("work", Act.HANG),
          "max_request_age, or stall_cycles and two looks of the watchdog",
          ramps(("REQUEST_STALE", WATCHDOG, STOP), request_late)),
    Fault("cycle-hang", "the cycle that has the drive never ends", InCycle("estimate", Act.HANG),
          "stall_cycles and two looks of the watchdog",
          safe((WATCHDOG,), lambda lim: lim.stall(lim.fast_task))),
    Fault("off-core", "the guard's thread runs on another core than its own", InCycle("estimate", Act.MOVE),
          "one look each 1000 cycles", off_core),
    # the sensor
    Fault("sensor-nan", "no count but NaN, for good", InCycle("sensor", Act.SET, ("count",), cycles=0),
          "sensor_hold_cycles", ramps(("SENSOR_LOST", "SENSOR_FLICKERS"), sensor_bad), NAN),
    Fault("sensor-nan-blip", "no count but NaN, for one cycle", InCycle("sensor", Act.SET, ("count",)), "that cycle",
          holds, NAN),
    Fault("sensor-flicker", "every second sample is invalid", InCycle("sensor", Act.SET, ("valid",), cycles=0, every=2),
          "2 × bucket_limit", ramps(("SENSOR_FLICKERS",), lambda lim: 2 * lim.guard.bucket_limit)),
    Fault("sensor-stale", "the drive repeats its last inputs and clock under right working counters",
          InCycle("head", Act.ORDER, cycles=0, order=Order.FREEZE), "bad_limit, or sensor_hold_cycles if less",
          bus_bad, needs="simulated"),
    Fault("sensor-jump", "the count jumps and stays there", InCycle("sensor", Act.ADD, ("count",), cycles=0),
          "that cycle", holds, Argument("counts", lambda lim: 1e5, -1e9, 1e9)),
    Fault("angle-range", "an angle beyond what the rig allows", InCycle("estimate", Act.SET, ("angle",), cycles=0),
          "that cycle", ramps(("ANGLE_LIMIT",), lambda lim: 0),
          Argument("rad", lambda lim: 1.01 * lim.guard.max_angle_rad, -1e6, 1e6)),
    Fault("rate-range", "a rate beyond what the rig allows", InCycle("estimate", Act.SET, ("rate",), cycles=0),
          "that cycle", ramps(("RATE_LIMIT",), lambda lim: 0),
          Argument("rad/s", lambda lim: -1.01 * lim.guard.max_rate_rad_s, -1e6, 1e6)),
    # the bus
    Fault("wkc-low", "the drive leaves its inputs out, for good",
          InCycle("head", Act.ORDER, cycles=0, order=Order.REFUSE_INPUTS),
          "bad_limit, or sensor_hold_cycles if less", bus_bad, needs="simulated"),
    Fault("wkc-low-blip", "the drive leaves its inputs out, for one cycle",
          InCycle("head", Act.ORDER, order=Order.REFUSE_INPUTS), "that cycle", holds, needs="simulated"),
    Fault("frame-lost", "one frame is lost", InCycle("head", Act.ORDER, order=Order.LOSE_FRAME), "that cycle", holds,
          needs="simulated"),
    Fault("link-down", "every frame is lost", InCycle("head", Act.ORDER, cycles=0, order=Order.LOSE_FRAME),
          "bad_limit, or sensor_hold_cycles if less", bus_bad, needs="simulated"),
    Fault("al-error", "the drive leaves OP with an AL error",
          InCycle("head", Act.ORDER, cycles=0, order=Order.LOSE_OPERATION), "the next cycle",
          safe(("ACTUATOR_LOST",), lambda lim: 1), needs="simulated"),
    Fault("drive-fault", "the drive breaks down: CiA 402 fault, over-current",
          InCycle("head", Act.ORDER, cycles=0, order=Order.FAIL_DRIVE), "the next cycle",
          safe(("ACTUATOR_LOST",), lambda lim: 1), needs="simulated"),
    Fault("drive-watchdog", "the drive's own watchdog runs out",
          InCycle("head", Act.ORDER, cycles=0, order=Order.END_WATCHDOG), "the next cycle",
          safe(("ACTUATOR_LOST",), lambda lim: 1), needs="simulated"),
    Fault("cable-pull", f"the last slave's cable is pulled, and {CABLE_BACK_S} s later put back",
          ToWire(CABLE_BACK_S, BACK_IN_OP_S + 0.3),
          f"as `link-down`, or a cycle more; in OP again without torque in {BACK_IN_OP_S:.0f} s",
          cable_out, needs="line"),
    Fault("ring-break", "the same, where the last slave has a cable to a second interface too",
          ToWire(CABLE_BACK_S, 0.5), "that cycle or the next; one bad cycle each time, torque as before",
          ring_open, needs="ring"),
    # the model and its request
    Fault("model-guide-nan", "the model is guided to no number", InCycle("guide", Act.SET, ("guide",), cycles=0),
          "the next request", ramps(("REQUEST_FAULT",), lambda lim: lim.slow_cycles(1)), NAN),
    Fault("model-diverges", "the model is guided to where it cannot be assembled",
          InCycle("guide", Act.SET, ("guide",), cycles=0), "the next request",
          ramps(("REQUEST_FAULT",), lambda lim: lim.slow_cycles(1)), Argument("rad", lambda lim: 1e3, -1e300, 1e300)),
    Fault("model-fault", "a block of the model's task fails", InCycle("work", Act.FAIL, cycles=0), "the next request",
          ramps(("REQUEST_FAULT",), lambda lim: lim.slow_cycles(1)), Argument("code", lambda lim: 99, 1, 1e6)),
    Fault("block-fault", "a block of the guard's task fails", InCycle("estimate", Act.FAIL, cycles=0), "that cycle",
          ramps(("OWN_FAULT",), lambda lim: 0), Argument("code", lambda lim: 99, 1, 1e6)),
    Fault("request-nan", "the torque request is no number, for good",
          InCycle("estimate", Act.SET, ("request",), cycles=0), "request_hold_cycles",
          ramps(("REQUEST_NOT_FINITE",), lambda lim: lim.guard.request_hold_cycles), NAN),
    Fault("request-nan-blip", "the torque request is no number, for one cycle",
          InCycle("estimate", Act.SET, ("request",)), "that cycle", holds, NAN),
    Fault("request-huge", "the torque request is far beyond the limit",
          InCycle("estimate", Act.SET, ("request",), cycles=0), "that cycle: clamped and rate-limited", goes_on,
          Argument("Nm", lambda lim: 1e300, -1e308, 1e308)),
    Fault("request-stale", "the model's task is busy for longer than a request may be old",
          InCycle("work", Act.BURN, scale=US), "max_request_age",
          ramps(("REQUEST_STALE", WATCHDOG, STOP), request_late),
          Argument("µs", lambda lim: 1.4e6 * lim.guard.max_request_age_cycles * lim.period_s, 1, 1e7)),
    # processes
    Fault("supervisor-stop", "the supervisor hangs (SIGSTOP)", ToProcess("supervisor", "SIGSTOP"),
          "heartbeat_timeout", ramps(("HEARTBEAT_LOST",), lambda lim: lim.cycles(lim.guard.heartbeat_timeout_s) + 2)),
    Fault("supervisor-term", "SIGTERM to the supervisor", ToProcess("supervisor", "SIGTERM"), "100 ms in all",
          asked_to_end),
    Fault("supervisor-int", "Ctrl-C", ToProcess("supervisor", "SIGINT"), "100 ms in all", asked_to_end),
    Fault("supervisor-kill", "SIGKILL to the supervisor", ToProcess("supervisor", "SIGKILL"), "50 ms", parent_died),
    Fault("cycle-term", "SIGTERM to the cycle process", ToProcess("cycle", "SIGTERM"), "50 ms", parent_died),
    Fault("cycle-kill", "SIGKILL to the cycle process", ToProcess("cycle", "SIGKILL"), "the drive's watchdog",
          drive_watchdog, needs="veth"),
    Fault("recorder-stop", "the recorder hangs for a while (SIGSTOP)", ToProcess("recorder", "SIGSTOP", 0.2),
          "the loop goes on, the record is whole", goes_on),
    Fault("recorder-kill", "SIGKILL to the recorder", ToProcess("recorder", "SIGKILL"), "the loop goes on", goes_on),
    Fault("disk-full", "the record can grow no more", ToProcess("recorder", "FILL_DISK"),
          "the loop goes on, every row that is not written is counted", goes_on),
    Fault("telemetry-stop", "telemetry hangs for a while (SIGSTOP)", ToProcess("telemetry", "SIGSTOP", 0.2),
          "the loop goes on", goes_on, needs="telemetry"),
    Fault("telemetry-kill", "SIGKILL to telemetry", ToProcess("telemetry", "SIGKILL"), "the loop goes on", goes_on,
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
    "power loss of a drive": "to the master the same as `cable-pull`; the rest is the drive's own",
}

"""The bounds that a rig states for each kind of fault, from its own limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace

from rigloop.blocks.axes import reaching
from rigloop.inject.kinds import STOP, WATCHDOG, Argument, Reaction, Stated
from rigloop.inject.limits import Limits
from rt_core.plan import OFF_CORE_EVERY, loop_signal

# the watchdog looks every 2 ms, for a signal and for a supervisor that has died; the rest is for a process that does
# not die at once on a busy machine, and for a kernel that marks no lifeline
LOOKS_S = 0.05
SUPERVISOR_S = 0.025  # 20 ms between two looks of the supervisor, and its turn until it says stop
SEEN_S = 0.002  # an emulated drive without frames moves on every 1 ms, and is looked at every 1 ms
BACK_IN_OP_S = 2.0  # from a cable that is put back

States = Callable[[Limits, float], Stated]


def counts(signal: Callable[[Limits], str], detect: Callable[[Limits], int]) -> States:
    """Goes on, and a signal counts it."""
    return lambda lim, value: Stated(Reaction.COUNT, (signal(lim),), detect(lim), None)


def ramps(trips: Iterable[str], detect: Callable[[Limits], int]) -> States:
    """Ramps out, found by any of these trips."""
    return lambda lim, value: Stated(
        Reaction.RAMP, tuple(trips), detect(lim), detect(lim) + lim.ramp
    )


def ramps_with_others(trips: Iterable[str], detect: Callable[[Limits], int]) -> States:
    """Ramps out, found by any of these trips; a guard of another task may find it first, and take this one along."""

    def stated(lim: Limits, value: float) -> Stated:
        reached = ("OTHER_TRIPPED",) if reaching(lim.rig, lim.axis.guard) else ()
        return Stated(Reaction.RAMP, (*trips, *reached), detect(lim), detect(lim) + lim.ramp)

    return stated


def safe(trips: Iterable[str], detect: Callable[[Limits], int]) -> States:
    """Is at zero at once, found by any of these trips."""
    return lambda lim, value: Stated(Reaction.SAFE, tuple(trips), detect(lim), detect(lim))


def holds(lim: Limits, value: float) -> Stated:
    """Keeps the last good value until the fault is over, and goes on."""
    return Stated(Reaction.HOLD, ("HOLD",), 1, None)


def holds_after(cycles: int) -> States:
    """Nothing tells it from a wheel at rest while it lasts; keeps the last good value once it is over, and goes on."""
    return lambda lim, value: Stated(Reaction.HOLD, ("HOLD",), cycles + 1, None)


def goes_on(lim: Limits, value: float) -> Stated:
    """Goes on as if nothing were."""
    return Stated(Reaction.COUNT, (), 0, None)


def sensor_bad(lim: Limits) -> int:
    """Cycles until the guard's patience with a sensor ends, whether with consecutive bad ones or with a full bucket."""
    return min(lim.held(lim.guard.sensor_hold_ms), lim.filled(lim.guard.sensor_bucket_ms, 2))


def bus_bad(lim: Limits, value: float) -> Stated:
    """The bus gives its drives up after `bad_limit` cycles, unless the guard's patience with the sensor ends before."""
    lost = lim.bus.bad_limit - 1
    if lost <= sensor_bad(lim):
        return Stated(Reaction.SAFE, ("ACTUATOR_LOST",), lost, lost)
    bad = sensor_bad(lim)
    return Stated(Reaction.RAMP, ("SENSOR_LOST", "SENSOR_FLICKERS"), bad, bad + lim.ramp)


def cable_out(lim: Limits, value: float) -> Stated:
    """As any silent bus, a cycle later if this one has its frame; and once the cable is in again, so are the slaves."""
    silent = bus_bad(lim, value)
    assert silent.zero is not None
    return replace(silent, detect=silent.detect + 1, zero=silent.zero + 1, back_s=BACK_IN_OP_S)


def ring_open(lim: Limits, value: float) -> Stated:
    """Goes on through the other cable, which is found in that cycle or the next."""
    return Stated(Reaction.COUNT, (f"{lim.bus_name}/ring_breaks",), 1, None)


def many_overruns(lim: Limits, value: float) -> Stated:
    """Ramps out once the overruns of the model's task are too many within its window; else counts them."""
    if lim.slow_task.overrun != "safe":
        return Stated(
            Reaction.COUNT, (loop_signal(lim.slow, "overruns_own"),), lim.slow_cycles(3), None
        )
    detect = lim.slow_cycles(lim.slow_task.overrun_window)
    return Stated(Reaction.RAMP, ("REQUEST_FAULT",), detect, detect + lim.ramp)


def off_core(lim: Limits, value: float) -> Stated:
    """Looks at the core of the guard's thread once in this number of cycles; the others on that core may keep it from
    its cycles before that."""
    if lim.fast_task.off_core != "safe":
        return Stated(Reaction.COUNT, (loop_signal(lim.fast, "off_core"),), OFF_CORE_EVERY, None)
    found_by = ("OWN_FAULT", "TIME_GAP", "OVERRUNS_MANY")
    return Stated(Reaction.RAMP, found_by, OFF_CORE_EVERY, OFF_CORE_EVERY + lim.ramp)


def time_gap(lim: Limits, value_us: float) -> Stated:
    """Ramps out in the first cycle after a gap, unless the watchdog's patience with the task ends before."""
    task = lim.fast_task
    if value_us < task.stall_cycles * task.period_us:
        return Stated(Reaction.RAMP, ("TIME_GAP",), 3, 3 + lim.ramp)
    # it counts from the deadline of the cycle after the last one
    detect = lim.stall(task) + 1
    return Stated(Reaction.SAFE, (WATCHDOG,), detect, detect)


def request_late(lim: Limits) -> int:
    """Cycles until the guard misses a new request, or the watchdog the model's task."""
    age = lim.cycles(lim.guard.max_request_age_ms * 1e-3)
    return min(age + lim.slow_cycles(1), lim.stall(lim.slow_task)) + 2


def asked_to_end(lim: Limits, value: float) -> Stated:
    """Ramps out after a signal to the supervisor, which tells the cycle process."""
    detect = lim.cycles(SUPERVISOR_S + LOOKS_S)
    return Stated(Reaction.RAMP, (STOP,), detect, detect + lim.ramp)


def parent_died(lim: Limits, value: float) -> Stated:
    """Ramps out after a signal to the cycle process: the user's, or the kernel's when the supervisor has died."""
    detect = lim.cycles(LOOKS_S)
    return Stated(Reaction.RAMP, (STOP,), detect, detect + lim.ramp)


def heartbeat_missed(lim: Limits) -> int:
    """Cycles until the guard misses a new heartbeat."""
    return lim.cycles(lim.guard.heartbeat_timeout_ms * 1e-3) + 2


def drive_watchdog(lim: Limits, value: float) -> Stated:
    """Leaves it to the drive."""
    longest_s = max(drive.watchdog_ms for drive in lim.bus.drives.values()) * 1e-3
    detect = lim.cycles(longest_s + SEEN_S) + 3
    return Stated(Reaction.DRIVE, ("drive watchdog",), detect, detect)


def slow_us(periods: float) -> Argument:
    """Work of this number of periods of the model's task."""
    return Argument("µs", lambda lim: periods * lim.slow_task.period_us, 1, 1e7)


def fast_us(periods: float) -> Argument:
    """Work of this number of periods of the guard's task."""
    return Argument("µs", lambda lim: periods * lim.fast_task.period_us, 1, 1e7)


NAN = Argument("", lambda lim: math.nan, -math.inf, math.inf)
US = 1000.0

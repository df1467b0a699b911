"""The guard: the last word on the torque, as the last block of the task that talks to the actuator.

Laws, for any input at all:
    the output is finite and within the limit;
    from one output to the next, however much time lies between, it changes by no more than rate x period, but for
    the drop to zero of a SAFE trip;
    it is exactly zero in INIT, READY and FAULT;
    in HOLD, without a good sample, it does not grow;
    every trip and every stop ends there within `GuardConfig.cycles_to_zero` executed cycles.

All but the last are proved of the law itself, `cycle.h`, the slope without entries to those three states:
docs/proofs.md.
Tests keep the last one, and the rule that only a SAFE trip drops (tests/property).

A guard may see others, by their `state` and `trip`: one that tripped on a cause of its own takes this one along. A trip
that was taken along reaches nobody, so that no two guards hold each other in FAULT.

Time is that of the clock: skipped periods count in every age, hold and bucket. Comparisons are written so that a
NaN counts as bad.
"""
from libc.math cimport NAN, fabs
from libc.stdint cimport int64_t, uintptr_t

from rt_core.cycle_block cimport CycleBlock
from rt_core.safety.felt cimport (
    Felt, felt_begin, felt_frame, felt_motion, felt_request, felt_sent,
)
from rt_core.safety.guard_ports cimport OTHERS, Ports
from rt_core.safety.law cimport (
    GuardFinding, GuardLimits, GuardMemory, GuardSeen, GuardStep, guard_cycle, guard_is_at_rest,
    guard_takes_along,
)


OTHER = "with"                   # ports of guards whose faults reach this one: with/NAME/state, with/NAME/trip
OPTIONAL = ("own_block", "request_block", "delivered")
READS = (
    "torque_request_nm", "request_cycle", "request_fault", "own_fault", "own_cycle", "elapsed",
    "sensor_valid", "angle_rad", "rate_rad_s", "actuator_ready", "heartbeat", "arm", "stop",
    "own_stop", *OPTIONAL,
)
WRITES = (
    "torque_nm", "state", "safe", "ramp", "waits_for", "trip", "trip_value", "trip_limit",
    "trip_cycle", "trip_fault", "trip_block", "trip_delivered", "gap_ms", "longest_gap_ms",
    "longest_gap_cycle", "gap_step_nm", "gap_step_cycle", "active_ms", "saturated_ms",
    "longest_saturated_ms", "given_j", "most_given_j",
)

MOST_OTHERS = OTHERS

cdef struct Memory:
    Ports ports
    GuardLimits limits
    GuardMemory law
    Felt felt


cdef inline double _cell(const double *port, double otherwise) noexcept nogil:
    return otherwise if port == NULL else port[0]


cdef void _note(Memory *m, GuardFinding found) noexcept nogil:
    cdef Ports *p = &m.ports
    cdef bint of_request = found.code == REQUEST_FAULT
    p.trip[0] = found.code
    p.trip_value[0] = found.value
    p.trip_limit[0] = found.limit
    p.trip_cycle[0] = p.own_cycle[0]
    p.trip_fault[0] = p.request_fault[0] if of_request else p.own_fault[0]
    p.trip_block[0] = _cell(p.request_block if of_request else p.own_block, 0)
    p.trip_delivered[0] = 1 if _cell(p.delivered, 1) > 0.5 else 0


cdef int _reached_by(Memory *m) noexcept nogil:
    # number of the first guard that takes this one along; 0: none
    cdef int i
    for i in range(m.ports.n_others):
        if guard_takes_along(m.ports.others[i].state[0], m.ports.others[i].trip[0]):
            return i + 1
    return 0


cdef void _see(Memory *m, GuardSeen *seen) noexcept nogil:
    cdef Ports *p = &m.ports
    seen.torque_request_nm = p.torque_request_nm[0]
    seen.request_cycle = p.request_cycle[0]
    seen.request_fault = p.request_fault[0]
    seen.own_fault = p.own_fault[0]
    seen.elapsed = p.elapsed[0]
    seen.sensor_valid = p.sensor_valid[0]
    seen.angle_rad = p.angle_rad[0]
    seen.rate_rad_s = p.rate_rad_s[0]
    seen.actuator_ready = p.actuator_ready[0]
    seen.heartbeat = p.heartbeat[0]
    seen.arm = p.arm[0]
    seen.stop = p.stop[0]
    seen.own_stop = p.own_stop[0]
    seen.other = _reached_by(m)


cdef void _feel(Memory *m, int64_t t_ns) noexcept nogil:
    # commands of earlier cycles that reached the actuator, while it was to follow
    cdef Ports *p = &m.ports
    cdef GuardLimits *lim = &m.limits
    cdef Felt *f = &m.felt
    felt_frame(f, _cell(p.delivered, 1) > 0.5, t_ns, p.own_cycle[0])
    felt_motion(f, m.law.sensor_bad_ns == 0, p.angle_rad[0], m.law.passed_ns)
    felt_request(f, fabs(lim.factor * p.torque_request_nm[0]) >= lim.limit_nm, m.law.passed_ns)


cdef void _show(Memory *m, GuardFinding found, int64_t t_ns) noexcept nogil:
    cdef Ports *p = &m.ports
    cdef Felt *f = &m.felt
    cdef int state = m.law.state
    p.torque_nm[0] = m.law.output_nm
    p.state[0] = state
    p.ramp[0] = m.law.gain
    p.waits_for[0] = found.code if state in (<int>INIT, <int>FAULT) else 0
    p.safe[0] = 1 if guard_is_at_rest(state) else 0
    p.gap_ms[0] = 1e-6 * (t_ns - f.acting_ns) if state in (<int>RUNNING, <int>HOLD) else 0
    p.longest_gap_ms[0] = 1e-6 * f.longest_ns
    p.longest_gap_cycle[0] = f.longest_cycle
    p.gap_step_nm[0] = f.step_nm
    p.gap_step_cycle[0] = f.step_cycle
    p.active_ms[0] = 1e-6 * f.active_ns
    p.saturated_ms[0] = 1e-6 * f.saturated_ns
    p.longest_saturated_ms[0] = 1e-6 * f.longest_stretch_ns
    p.given_j[0] = f.given_j
    p.most_given_j[0] = f.most_given_j


cdef int step_guard(void *self, int64_t t_ns) noexcept nogil:
    cdef Memory *m = <Memory *>self
    cdef bint followed = m.law.state in (<int>RUNNING, <int>HOLD)
    cdef GuardSeen seen
    cdef GuardStep step
    _see(m, &seen)
    step = guard_cycle(&m.law, &m.limits, &seen, t_ns)
    if followed:
        _feel(m, t_ns)
    if step.armed:
        felt_begin(&m.felt, t_ns)
    # the first finding since arming is the cause; arming takes that of before away
    if step.is_cause or step.armed:
        _note(m, step.found)
    felt_sent(&m.felt, m.law.output_nm, step.target_nm, m.law.good_ns)
    _show(m, step.found, t_ns)
    return 0


cdef double DRAIN_RAD_S = 0.05   # times the limit: given power that is forgiven


def _ns(duration_ms):
    return round(1e6 * duration_ms)


def other_ports(other):
    """See guard.pyi."""
    return f"{OTHER}/{other}/state", f"{OTHER}/{other}/trip"


def _others_of(reads):
    # in the order of their first port
    parts = [port.split("/") for port in reads if port.startswith(f"{OTHER}/")]
    return list(dict.fromkeys(part[1] for part in parts if len(part) == 3))


cdef uintptr_t _cell_of(dict cells, str port) except? 0:
    # 0: an optional port that is not wired
    return cells.get(port, 0)


cdef class Guard(CycleBlock):
    """See guard.pyi."""

    cdef readonly object config
    cdef Memory memory

    def __init__(self, config, *, period_ns, reads, writes=None, name="guard"):
        mistakes = []
        if period_ns <= 0:
            mistakes.append(f"{name}: period_ns = {period_ns} must be above 0")
        paths = {port: f"{name}/{port}" for port in WRITES} | dict(writes or {})
        others = _others_of(reads)
        if len(others) > OTHERS:
            mistakes.append(f"{name}: {len(others)} other guards reach it, at most {OTHERS}")
        theirs = [port for other in others for port in other_ports(other)]
        known = (*READS, *theirs)
        for what, given, ports in (("reads", reads, known), ("writes", paths, WRITES)):
            missing = [port for port in ports if port not in given and port not in OPTIONAL]
            unknown = [port for port in given if port not in ports]
            if missing:
                mistakes.append(f"{name}: {what} lacks the port(s) {', '.join(missing)}")
            if unknown:
                mistakes.append(f"{name}: {what} has unknown port(s) {', '.join(unknown)}")
        if mistakes:
            raise ValueError("\n".join(mistakes))
        self.name = name
        self.config = config
        self.reads = {port: reads[port] for port in known if port in reads}
        self.writes = {port: paths[port] for port in WRITES}
        cdef double period_s = period_ns * 1e-9
        cdef GuardLimits *lim = &self.memory.limits
        cdef Felt *felt = &self.memory.felt
        lim.period_ns = period_ns
        lim.limit_nm = config.limit_nm
        lim.factor = config.request_sign * config.request_gain
        lim.step_nm = config.rate_nm_s * period_s
        lim.max_angle_rad = config.max_angle_rad
        lim.max_rate_rad_s = config.max_rate_rad_s
        lim.gain_in = min(1.0, period_s / config.ramp_in_s) if config.ramp_in_s > 0 else 1.0
        lim.gain_out = min(1.0, period_s / config.ramp_out_s) if config.ramp_out_s > 0 else 1.0
        # a limit below the change of one period would never be kept
        lim.max_request_age_ns = max(_ns(config.max_request_age_ms), period_ns)
        lim.request_hold_ns = _ns(config.request_hold_ms)
        lim.sensor_hold_ns = _ns(config.sensor_hold_ms)
        lim.max_gap_ns = max(_ns(config.max_gap_ms), period_ns)
        lim.sensor_bucket_ns = max(_ns(config.sensor_bucket_ms), 2 * period_ns)
        lim.skip_bucket_ns = max(_ns(config.skip_bucket_ms), 2 * period_ns)
        lim.heartbeat_timeout_ns = _ns(config.heartbeat_timeout_ms)
        felt.long_ns = 2 * max(_ns(config.request_period_ms), period_ns) + period_ns
        felt.drain_w = DRAIN_RAD_S * config.limit_nm
        felt.reach_rad = config.max_angle_rad
        # nothing was seen yet: not fit until the other side has shown life
        self.memory.law.good_cycle = NAN
        self.memory.law.request_age_ns = lim.max_request_age_ns
        self.memory.law.heartbeat_ns = -lim.heartbeat_timeout_ns - 1
        self.run_by(step_guard, &self.memory, 0)

    def bind(self, reads, writes):
        """Take the address of one float64 cell per port, in the order of `reads` and `writes`."""
        cdef Ports *p = &self.memory.ports
        given = dict(zip(self.reads, reads, strict=True))
        taken = dict(zip(self.writes, writes, strict=True))
        p.torque_request_nm = <const double *>_cell_of(given, "torque_request_nm")
        p.request_cycle = <const double *>_cell_of(given, "request_cycle")
        p.request_fault = <const double *>_cell_of(given, "request_fault")
        p.own_fault = <const double *>_cell_of(given, "own_fault")
        p.own_cycle = <const double *>_cell_of(given, "own_cycle")
        p.elapsed = <const double *>_cell_of(given, "elapsed")
        p.sensor_valid = <const double *>_cell_of(given, "sensor_valid")
        p.angle_rad = <const double *>_cell_of(given, "angle_rad")
        p.rate_rad_s = <const double *>_cell_of(given, "rate_rad_s")
        p.actuator_ready = <const double *>_cell_of(given, "actuator_ready")
        p.heartbeat = <const double *>_cell_of(given, "heartbeat")
        p.arm = <const double *>_cell_of(given, "arm")
        p.stop = <const double *>_cell_of(given, "stop")
        p.own_stop = <const double *>_cell_of(given, "own_stop")
        p.own_block = <const double *>_cell_of(given, "own_block")
        p.request_block = <const double *>_cell_of(given, "request_block")
        p.delivered = <const double *>_cell_of(given, "delivered")
        others = _others_of(given)
        for i, other in enumerate(others):
            state, trip = other_ports(other)
            p.others[i].state = <const double *>_cell_of(given, state)
            p.others[i].trip = <const double *>_cell_of(given, trip)
        p.n_others = len(others)
        p.torque_nm = <double *>_cell_of(taken, "torque_nm")
        p.state = <double *>_cell_of(taken, "state")
        p.safe = <double *>_cell_of(taken, "safe")
        p.ramp = <double *>_cell_of(taken, "ramp")
        p.waits_for = <double *>_cell_of(taken, "waits_for")
        p.trip = <double *>_cell_of(taken, "trip")
        p.trip_value = <double *>_cell_of(taken, "trip_value")
        p.trip_limit = <double *>_cell_of(taken, "trip_limit")
        p.trip_cycle = <double *>_cell_of(taken, "trip_cycle")
        p.trip_fault = <double *>_cell_of(taken, "trip_fault")
        p.trip_block = <double *>_cell_of(taken, "trip_block")
        p.trip_delivered = <double *>_cell_of(taken, "trip_delivered")
        p.gap_ms = <double *>_cell_of(taken, "gap_ms")
        p.longest_gap_ms = <double *>_cell_of(taken, "longest_gap_ms")
        p.longest_gap_cycle = <double *>_cell_of(taken, "longest_gap_cycle")
        p.gap_step_nm = <double *>_cell_of(taken, "gap_step_nm")
        p.gap_step_cycle = <double *>_cell_of(taken, "gap_step_cycle")
        p.active_ms = <double *>_cell_of(taken, "active_ms")
        p.saturated_ms = <double *>_cell_of(taken, "saturated_ms")
        p.longest_saturated_ms = <double *>_cell_of(taken, "longest_saturated_ms")
        p.given_j = <double *>_cell_of(taken, "given_j")
        p.most_given_j = <double *>_cell_of(taken, "most_given_j")

"""The guard: the last word on the torque, as the last block of the task that talks to the actuator.

Laws, for any input at all:
    the output is finite and within the limit;
    it changes by no more than rate x period a cycle, but for the drop to zero of a SAFE trip;
    it is exactly zero in INIT, READY and FAULT;
    every trip and every stop ends there within `GuardConfig.cycles_to_zero` cycles.

Comparisons are written so that a NaN counts as bad.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.math cimport fabs, isfinite
from libc.stdint cimport int64_t, uintptr_t

from rt_core.block cimport BlockView

from rt_core.block import BLOCK_ABI

READS = (
    "torque_request_nm", "request_cycle", "request_fault", "own_fault", "own_cycle", "elapsed",
    "sensor_valid", "angle_rad", "rate_rad_s", "actuator_ready", "heartbeat", "arm", "stop",
    "own_stop",
)
WRITES = (
    "torque_nm", "state", "safe", "ramp", "waits_for", "trip", "trip_value", "trip_limit",
    "trip_cycle",
)

cdef struct Ports:               # in the order of READS and WRITES
    const double *torque_request_nm
    const double *request_cycle
    const double *request_fault
    const double *own_fault
    const double *own_cycle
    const double *elapsed
    const double *sensor_valid
    const double *angle_rad
    const double *rate_rad_s
    const double *actuator_ready
    const double *heartbeat
    const double *arm
    const double *stop
    const double *own_stop
    double *torque_nm
    double *state
    double *safe
    double *ramp
    double *waits_for
    double *trip
    double *trip_value
    double *trip_limit
    double *trip_cycle

cdef struct Limits:
    double limit_nm
    double sign
    double step_nm               # rate limit a cycle
    double max_angle_rad
    double max_rate_rad_s
    double gain_in               # of the ramp, a cycle
    double gain_out
    int64_t max_request_age
    int64_t request_hold
    int64_t sensor_hold
    double max_gap
    int64_t bucket
    int64_t heartbeat_timeout_ns

cdef struct Finding:
    Trip code
    Reaction reaction
    double value
    double limit

cdef struct Memory:
    Ports ports
    Limits limits
    State state
    double output_nm
    double good_nm               # last good request, clamped
    double gain
    bint tripped                 # this ramp-out ends in FAULT
    bint arm_was_low             # a rising edge needs a low before it
    double request_cycle         # newest seen, and for how many cycles
    int64_t request_age
    int64_t request_bad          # cycles on end
    int64_t sensor_bad
    int64_t sensor_bucket
    int64_t overrun_bucket
    double heartbeat             # newest seen, and when
    int64_t heartbeat_ns


cdef inline int64_t _leak(int64_t level, bint bad, int64_t limit) noexcept nogil:
    # +2 a bad cycle, -1 a good one, never far over the limit
    return min(level + 2, limit + 2) if bad else max(level - 1, 0)


cdef void _note(Memory *m, Finding found) noexcept nogil:
    m.ports.trip[0] = <double><int>found.code
    m.ports.trip_value[0] = found.value
    m.ports.trip_limit[0] = found.limit
    m.ports.trip_cycle[0] = m.ports.own_cycle[0]


cdef void _watch(Memory *m, int64_t t_ns) noexcept nogil:
    # ages, buckets and edges, in every state
    cdef Ports *p = &m.ports
    cdef Limits *lim = &m.limits
    cdef bint sensor_good = (
        p.sensor_valid[0] > 0.5 and isfinite(p.angle_rad[0]) and isfinite(p.rate_rad_s[0])
    )
    m.sensor_bad = 0 if sensor_good else min(m.sensor_bad + 1, lim.sensor_hold + 1)
    m.sensor_bucket = _leak(m.sensor_bucket, not sensor_good, lim.bucket)
    m.overrun_bucket = _leak(m.overrun_bucket, not (p.elapsed[0] <= 1), lim.bucket)
    m.request_bad = (
        0 if isfinite(p.torque_request_nm[0]) else min(m.request_bad + 1, lim.request_hold + 1)
    )

    if isfinite(p.request_cycle[0]) and p.request_cycle[0] != m.request_cycle:
        m.request_cycle = p.request_cycle[0]
        m.request_age = 0
    else:
        m.request_age = min(m.request_age + 1, lim.max_request_age + 1)
    if isfinite(p.heartbeat[0]) and p.heartbeat[0] != m.heartbeat:
        m.heartbeat = p.heartbeat[0]
        m.heartbeat_ns = t_ns


cdef Finding _check(Memory *m, int64_t t_ns) noexcept nogil:
    # the trip table, worst first
    cdef Ports *p = &m.ports
    cdef Limits *lim = &m.limits
    cdef Finding found
    found.reaction = RAMP
    if not (p.actuator_ready[0] > 0.5):
        found.code, found.value, found.limit = ACTUATOR_LOST, p.actuator_ready[0], 1
        found.reaction = SAFE
    elif not (p.own_fault[0] == 0):
        found.code, found.value, found.limit = OWN_FAULT, p.own_fault[0], 0
    elif not (p.request_fault[0] == 0):
        found.code, found.value, found.limit = REQUEST_FAULT, p.request_fault[0], 0
    elif not (p.elapsed[0] <= lim.max_gap):
        found.code, found.value, found.limit = TIME_GAP, p.elapsed[0], lim.max_gap
    elif m.overrun_bucket >= lim.bucket:
        found.code, found.value, found.limit = OVERRUNS_MANY, m.overrun_bucket, lim.bucket
    elif m.sensor_bad > lim.sensor_hold:
        found.code, found.value, found.limit = SENSOR_LOST, m.sensor_bad, lim.sensor_hold
    elif m.sensor_bucket >= lim.bucket:
        found.code, found.value, found.limit = SENSOR_FLICKERS, m.sensor_bucket, lim.bucket
    elif m.sensor_bad == 0 and not (fabs(p.angle_rad[0]) <= lim.max_angle_rad):
        found.code, found.value, found.limit = ANGLE_LIMIT, p.angle_rad[0], lim.max_angle_rad
    elif m.sensor_bad == 0 and not (fabs(p.rate_rad_s[0]) <= lim.max_rate_rad_s):
        found.code, found.value, found.limit = RATE_LIMIT, p.rate_rad_s[0], lim.max_rate_rad_s
    elif m.request_bad > lim.request_hold:
        found.code = REQUEST_NOT_FINITE
        found.value, found.limit = m.request_bad, lim.request_hold
    elif m.request_age > lim.max_request_age:
        found.code = REQUEST_STALE
        found.value, found.limit = m.request_age, lim.max_request_age
    elif t_ns - m.heartbeat_ns > lim.heartbeat_timeout_ns:
        found.code = HEARTBEAT_LOST
        found.value, found.limit = 1e-9 * (t_ns - m.heartbeat_ns), 1e-9 * lim.heartbeat_timeout_ns
    else:
        found.code, found.value, found.limit = NO_TRIP, 0, 0
        found.reaction = NONE
    return found


cdef int step_guard(void *self, int64_t t_ns) noexcept nogil:
    cdef Memory *m = <Memory *>self
    cdef Ports *p = &m.ports
    cdef Limits *lim = &m.limits
    cdef bint arm = p.arm[0] > 0.5
    cdef bint stop = not (p.stop[0] < 0.5) or not (p.own_stop[0] < 0.5)
    cdef bint active = m.state == RUNNING or m.state == HOLD or m.state == STOPPING
    cdef Finding found
    cdef Reaction reaction
    cdef double target, change
    _watch(m, t_ns)
    found = _check(m, t_ns)
    reaction = found.reaction
    # the first finding since arming is the cause
    if active and reaction != NONE and not m.tripped:
        _note(m, found)

    # state
    if active:
        if reaction == SAFE:
            m.state = FAULT
        elif reaction == RAMP:
            m.state = STOPPING
            m.tripped = True
        elif m.state != STOPPING:
            if stop or not arm:
                m.state = STOPPING
            else:
                m.state = HOLD if m.sensor_bad > 0 or m.request_bad > 0 else RUNNING
    elif m.state == FAULT:
        if not arm and not stop and reaction == NONE:
            m.state = READY
    else:
        m.state = READY if reaction == NONE and m.sensor_bad == 0 and m.request_bad == 0 else INIT
        if m.state == READY and arm and m.arm_was_low and not stop:
            m.state = RUNNING
            m.tripped = False
            m.gain = 0
            m.good_nm = 0
            _note(m, found)
    m.arm_was_low = not arm

    # torque: request, finite, clamp, ramp, rate limit last, finite
    if not m.tripped and m.request_bad == 0 and m.sensor_bad == 0:
        m.good_nm = min(max(lim.sign * p.torque_request_nm[0], -lim.limit_nm), lim.limit_nm)
    if m.state == RUNNING or m.state == HOLD:
        m.gain = min(m.gain + lim.gain_in, 1.0)
    elif m.state == STOPPING:
        m.gain = max(m.gain - lim.gain_out, 0.0)
    else:
        m.gain = 0
    target = m.gain * m.good_nm
    change = min(max(target - m.output_nm, -lim.step_nm), lim.step_nm)
    # take the target itself when it is within reach, so that a ramp-out ends at exactly zero
    m.output_nm = target if fabs(target - m.output_nm) <= lim.step_nm else m.output_nm + change
    if m.state == STOPPING and m.gain == 0 and m.output_nm == 0:
        m.state = FAULT if m.tripped else INIT
    if m.state == INIT or m.state == READY or m.state == FAULT or not isfinite(m.output_nm):
        m.output_nm = 0

    p.torque_nm[0] = m.output_nm
    p.state[0] = <double><int>m.state
    p.ramp[0] = m.gain
    p.waits_for[0] = <double><int>found.code if m.state == INIT or m.state == FAULT else 0
    p.safe[0] = 1 if m.state == INIT or m.state == READY or m.state == FAULT else 0
    return 0


cdef class Guard:
    """See guard.pyi."""

    cdef readonly str name
    cdef readonly dict reads
    cdef readonly dict writes
    cdef readonly object config
    cdef Memory memory
    cdef BlockView view

    def __init__(self, config, *, period_ns, reads, writes=None, name="guard"):
        mistakes = [f"{name}: {mistake}" for mistake in config.mistakes()]
        if period_ns <= 0:
            mistakes.append(f"{name}: period_ns = {period_ns} must be above 0")
        paths = {port: f"{name}/{port}" for port in WRITES} | dict(writes or {})
        for what, given, ports in (("reads", reads, READS), ("writes", paths, WRITES)):
            missing = [port for port in ports if port not in given]
            unknown = [port for port in given if port not in ports]
            if missing:
                mistakes.append(f"{name}: {what} lacks the port(s) {', '.join(missing)}")
            if unknown:
                mistakes.append(f"{name}: {what} has unknown port(s) {', '.join(unknown)}")
        if mistakes:
            raise ValueError("\n".join(mistakes))
        self.name = name
        self.config = config
        self.reads = {port: reads[port] for port in READS}
        self.writes = {port: paths[port] for port in WRITES}
        cdef double period_s = period_ns * 1e-9
        cdef Limits *lim = &self.memory.limits
        lim.limit_nm = config.limit_nm
        lim.sign = config.request_sign
        lim.step_nm = config.rate_nm_s * period_s
        lim.max_angle_rad = config.max_angle_rad
        lim.max_rate_rad_s = config.max_rate_rad_s
        lim.gain_in = min(1.0, period_s / config.ramp_in_s) if config.ramp_in_s > 0 else 1.0
        lim.gain_out = min(1.0, period_s / config.ramp_out_s) if config.ramp_out_s > 0 else 1.0
        lim.max_request_age = config.max_request_age_cycles
        lim.request_hold = config.request_hold_cycles
        lim.sensor_hold = config.sensor_hold_cycles
        lim.max_gap = config.max_gap_cycles
        lim.bucket = max(2, config.bucket_limit)
        lim.heartbeat_timeout_ns = <int64_t>(config.heartbeat_timeout_s * 1e9)
        # nothing was seen yet: not fit until the other side has shown life
        self.memory.request_age = lim.max_request_age + 1
        self.memory.heartbeat_ns = -lim.heartbeat_timeout_ns - 1
        self.view.abi = BLOCK_ABI
        self.view.step = step_guard
        self.view.self = &self.memory

    def bind(self, reads, writes):
        cdef uintptr_t *port = <uintptr_t *>&self.memory.ports
        cdef int i = 0
        for address in [*reads, *writes]:
            port[i] = address
            i += 1

    def capsule(self):
        return PyCapsule_New(&self.view, "rigloop.block", NULL)

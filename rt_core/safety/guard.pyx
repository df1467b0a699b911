"""The guard: the last word on the torque, as the last block of the task that talks to the actuator.

Laws, for any input at all:
    the output is finite and within the limit;
    from one output to the next, however much time lies between, it changes by no more than rate x period, but for
    the drop to zero of a SAFE trip;
    it is exactly zero in INIT, READY and FAULT;
    every trip and every stop ends there within `GuardConfig.cycles_to_zero` executed cycles.

A guard may see others, by their `state` and `trip`: one that tripped on a cause of its own takes this one along. A trip
that was taken along reaches nobody, so that no two guards hold each other in FAULT.

Time is that of the clock: skipped periods count in every age, hold and bucket. Comparisons are written so that a
NaN counts as bad.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.math cimport NAN, fabs, isfinite
from libc.stdint cimport int64_t, uintptr_t

from rt_core.block cimport BlockView
from rt_core.safety.guard_ports cimport OTHERS, Other, Ports
from rt_core.safety.felt cimport (
    Felt, felt_begin, felt_frame, felt_motion, felt_request, felt_sent,
)

from rt_core.block import BLOCK_ABI

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

cdef enum:
    LONGEST_NS = 1000000000000000    # eleven days: ages stop there

cdef struct Limits:
    int64_t period_ns
    double limit_nm
    double factor                # of the request: its sign and gain
    double step_nm               # rate limit an output
    double max_angle_rad
    double max_rate_rad_s
    double gain_in               # of the ramp, an output
    double gain_out              # of the ramp, a period
    int64_t max_request_age_ns
    int64_t request_hold_ns
    int64_t sensor_hold_ns
    int64_t max_gap_ns
    int64_t sensor_bucket_ns
    int64_t skip_bucket_ns
    int64_t heartbeat_timeout_ns

cdef struct Finding:
    Trip code
    Reaction reaction
    double value
    double limit

cdef struct Memory:
    Ports ports
    Limits limits
    Felt felt
    State state
    double output_nm
    double good_nm               # last good request, clamped
    double good_cycle            # number of that request, and when it was new
    int64_t good_ns
    double gain
    bint tripped                 # this ramp-out ends in FAULT
    bint arm_was_low             # a rising edge needs a low before it
    bint stepped                 # t_ns is that of a cycle
    int64_t t_ns                 # of the cycle before
    int64_t passed_ns            # since then
    double request_cycle         # newest seen, and for how long
    int64_t request_age_ns
    int64_t request_bad_ns       # from the first bad one on
    int64_t sensor_bad_ns
    int64_t sensor_bucket_ns
    int64_t skip_bucket_ns
    double heartbeat             # newest seen, and when
    int64_t heartbeat_ns


cdef inline int64_t _passed(Memory *m, int64_t t_ns) noexcept nogil:
    # by the clock or by `elapsed`, whichever says more; a period at least
    cdef double periods = m.ports.elapsed[0]
    cdef double longest = <double>LONGEST_NS / m.limits.period_ns
    cdef int64_t passed = m.limits.period_ns
    if m.stepped:
        passed = max(passed, t_ns - m.t_ns)
    if not (periods <= longest):
        passed = LONGEST_NS
    elif periods > 1:
        passed = max(passed, <int64_t>(periods * m.limits.period_ns))
    return min(passed, <int64_t>LONGEST_NS)


cdef inline int64_t _bad_for(Memory *m, int64_t before_ns, bint good) noexcept nogil:
    # a first bad one counts as a period: the gap before it has its own limit
    if good:
        return 0
    return m.limits.period_ns if before_ns == 0 else min(before_ns + m.passed_ns, <int64_t>LONGEST_NS)


cdef inline int64_t _leak(int64_t level, int64_t bad_ns, int64_t limit, int64_t period_ns) noexcept nogil:
    # bad time counts twice, a good cycle takes one period away; never far over the limit
    return min(level + 2 * bad_ns, limit + 2 * period_ns) if bad_ns > 0 else max(level - period_ns, 0)


cdef inline double _cell(const double *port, double otherwise) noexcept nogil:
    return otherwise if port == NULL else port[0]


cdef void _note(Memory *m, Finding found) noexcept nogil:
    cdef Ports *p = &m.ports
    cdef bint of_request = found.code == REQUEST_FAULT
    p.trip[0] = <double><int>found.code
    p.trip_value[0] = found.value
    p.trip_limit[0] = found.limit
    p.trip_cycle[0] = p.own_cycle[0]
    p.trip_fault[0] = p.request_fault[0] if of_request else p.own_fault[0]
    p.trip_block[0] = _cell(p.request_block if of_request else p.own_block, 0)
    p.trip_delivered[0] = 1 if _cell(p.delivered, 1) > 0.5 else 0


cdef void _watch(Memory *m, int64_t t_ns) noexcept nogil:
    # ages, buckets and edges, in every state
    cdef Ports *p = &m.ports
    cdef Limits *lim = &m.limits
    cdef bint sensor_good = (
        p.sensor_valid[0] > 0.5 and isfinite(p.angle_rad[0]) and isfinite(p.rate_rad_s[0])
    )
    cdef bint was_bad = m.sensor_bad_ns > 0
    m.passed_ns = _passed(m, t_ns)
    m.t_ns = t_ns
    m.stepped = True
    m.sensor_bad_ns = _bad_for(m, m.sensor_bad_ns, sensor_good)
    m.sensor_bucket_ns = _leak(
        m.sensor_bucket_ns,
        0 if sensor_good else m.passed_ns if was_bad else lim.period_ns,
        lim.sensor_bucket_ns, lim.period_ns,
    )
    m.skip_bucket_ns = _leak(
        m.skip_bucket_ns, m.passed_ns - lim.period_ns, lim.skip_bucket_ns, lim.period_ns
    )
    m.request_bad_ns = _bad_for(m, m.request_bad_ns, isfinite(p.torque_request_nm[0]))

    if isfinite(p.request_cycle[0]) and p.request_cycle[0] != m.request_cycle:
        m.request_cycle = p.request_cycle[0]
        m.request_age_ns = 0
    else:
        m.request_age_ns = min(m.request_age_ns + m.passed_ns, <int64_t>LONGEST_NS)
    if isfinite(p.heartbeat[0]) and p.heartbeat[0] != m.heartbeat:
        m.heartbeat = p.heartbeat[0]
        m.heartbeat_ns = t_ns


cdef inline Finding _found(Trip code, Reaction reaction, double value, double limit) noexcept nogil:
    cdef Finding found
    found.code, found.reaction, found.value, found.limit = code, reaction, value, limit
    return found


cdef inline Finding _too_long(Trip code, int64_t value_ns, int64_t limit_ns) noexcept nogil:
    return _found(code, RAMP, 1e-6 * value_ns, 1e-6 * limit_ns)


cdef int _reached_by(Memory *m) noexcept nogil:
    # number of the first guard that tripped on a cause of its own, and may not be armed yet; 0: none
    cdef const Other *other
    cdef double state, trip
    cdef int i
    for i in range(m.ports.n_others):
        other = &m.ports.others[i]
        state, trip = other.state[0], other.trip[0]
        if (state == <int>STOPPING or state == <int>FAULT) and not (
            trip == <int>NO_TRIP or trip == <int>OTHER_TRIPPED
        ):
            return i + 1
    return 0


cdef Finding _check(Memory *m, int64_t t_ns) noexcept nogil:
    # the trip table, worst first; a cause of its own before those of others
    cdef Finding found = _check_own(m, t_ns)
    cdef int other = _reached_by(m)
    # a guard in FAULT answers for itself only: two that tripped together do not wait for each other
    if found.reaction != NONE or other == 0 or m.state == FAULT:
        return found
    return _found(OTHER_TRIPPED, RAMP, other, 0)


cdef Finding _check_own(Memory *m, int64_t t_ns) noexcept nogil:
    cdef Ports *p = &m.ports
    cdef Limits *lim = &m.limits
    if not (p.actuator_ready[0] > 0.5):
        return _found(ACTUATOR_LOST, SAFE, p.actuator_ready[0], 1)
    if not (p.own_fault[0] == 0):
        return _found(OWN_FAULT, RAMP, p.own_fault[0], 0)
    if not (p.request_fault[0] == 0):
        return _found(REQUEST_FAULT, RAMP, p.request_fault[0], 0)
    if m.passed_ns > lim.max_gap_ns:
        return _too_long(TIME_GAP, m.passed_ns, lim.max_gap_ns)
    if m.skip_bucket_ns >= lim.skip_bucket_ns:
        return _too_long(OVERRUNS_MANY, m.skip_bucket_ns, lim.skip_bucket_ns)
    if m.sensor_bad_ns > lim.sensor_hold_ns:
        return _too_long(SENSOR_LOST, m.sensor_bad_ns, lim.sensor_hold_ns)
    if m.sensor_bucket_ns >= lim.sensor_bucket_ns:
        return _too_long(SENSOR_FLICKERS, m.sensor_bucket_ns, lim.sensor_bucket_ns)
    if m.sensor_bad_ns == 0 and not (fabs(p.angle_rad[0]) <= lim.max_angle_rad):
        return _found(ANGLE_LIMIT, RAMP, p.angle_rad[0], lim.max_angle_rad)
    if m.sensor_bad_ns == 0 and not (fabs(p.rate_rad_s[0]) <= lim.max_rate_rad_s):
        return _found(RATE_LIMIT, RAMP, p.rate_rad_s[0], lim.max_rate_rad_s)
    if m.request_bad_ns > lim.request_hold_ns:
        return _too_long(REQUEST_NOT_FINITE, m.request_bad_ns, lim.request_hold_ns)
    if m.request_age_ns > lim.max_request_age_ns:
        return _too_long(REQUEST_STALE, m.request_age_ns, lim.max_request_age_ns)
    if t_ns - m.heartbeat_ns > lim.heartbeat_timeout_ns:
        return _too_long(HEARTBEAT_LOST, t_ns - m.heartbeat_ns, lim.heartbeat_timeout_ns)
    return _found(NO_TRIP, NONE, 0, 0)


cdef void _feel(Memory *m, int64_t t_ns) noexcept nogil:
    # commands of earlier cycles that reached the actuator, while it was to follow
    cdef Ports *p = &m.ports
    cdef Limits *lim = &m.limits
    cdef Felt *f = &m.felt
    felt_frame(f, _cell(p.delivered, 1) > 0.5, t_ns, p.own_cycle[0])
    felt_motion(f, m.sensor_bad_ns == 0, p.angle_rad[0], m.passed_ns)
    felt_request(f, fabs(lim.factor * p.torque_request_nm[0]) >= lim.limit_nm, m.passed_ns)


cdef void _show(Memory *m, Finding found, int64_t t_ns) noexcept nogil:
    cdef Ports *p = &m.ports
    cdef Felt *f = &m.felt
    cdef bint follows = m.state in (RUNNING, HOLD)
    p.torque_nm[0] = m.output_nm
    p.state[0] = <double><int>m.state
    p.ramp[0] = m.gain
    p.waits_for[0] = <double><int>found.code if m.state in (INIT, FAULT) else 0
    p.safe[0] = 1 if m.state in (INIT, READY, FAULT) else 0
    p.gap_ms[0] = 1e-6 * (t_ns - f.acting_ns) if follows else 0
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
    cdef Ports *p = &m.ports
    cdef Limits *lim = &m.limits
    cdef bint arm = p.arm[0] > 0.5
    cdef bint stop = not (p.stop[0] < 0.5) or not (p.own_stop[0] < 0.5)
    cdef bint active = m.state in (RUNNING, HOLD, STOPPING)
    cdef bint was_stopping = m.state == STOPPING
    cdef bint followed = m.state in (RUNNING, HOLD)
    cdef Finding found
    cdef Reaction reaction
    cdef double target, change
    _watch(m, t_ns)
    if followed:
        _feel(m, t_ns)
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
                m.state = HOLD if m.sensor_bad_ns > 0 or m.request_bad_ns > 0 else RUNNING
    elif m.state == FAULT:
        if not arm and not stop and reaction == NONE:
            m.state = READY
    else:
        m.state = (
            READY if reaction == NONE and m.sensor_bad_ns == 0 and m.request_bad_ns == 0 else INIT
        )
        if m.state == READY and arm and m.arm_was_low and not stop:
            m.state = RUNNING
            m.tripped = False
            felt_begin(&m.felt, t_ns)
            _note(m, found)
    m.arm_was_low = not arm

    # torque: request, finite, clamp, ramp, rate limit last, finite
    if not m.tripped and m.request_bad_ns == 0 and m.sensor_bad_ns == 0:
        m.good_nm = min(max(lim.factor * p.torque_request_nm[0], -lim.limit_nm), lim.limit_nm)
        if m.good_cycle != m.request_cycle:
            m.good_cycle = m.request_cycle
            m.good_ns = t_ns
    if m.state in (RUNNING, HOLD):
        # a gap does not shorten the ramp in, but it does the ramp out
        m.gain = min(m.gain + lim.gain_in, 1.0)
    elif m.state == STOPPING:
        m.gain = max(
            m.gain - lim.gain_out * (<double>m.passed_ns / lim.period_ns if was_stopping else 1.0), 0.0
        )
    else:
        m.gain = 0
    target = m.gain * m.good_nm
    change = min(max(target - m.output_nm, -lim.step_nm), lim.step_nm)
    # take the target itself when it is within reach, so that a ramp-out ends at exactly zero
    m.output_nm = target if fabs(target - m.output_nm) <= lim.step_nm else m.output_nm + change
    if m.state == STOPPING and m.gain == 0 and m.output_nm == 0:
        m.state = FAULT if m.tripped else INIT
    if m.state in (INIT, READY, FAULT) or not isfinite(m.output_nm):
        m.output_nm = 0
    felt_sent(&m.felt, m.output_nm, target, m.good_ns)
    _show(m, found, t_ns)
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


cdef class Guard:
    """See guard.pyi."""

    cdef readonly str name
    cdef readonly dict reads
    cdef readonly dict writes
    cdef readonly object config
    cdef Memory memory
    cdef BlockView view

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
        cdef Limits *lim = &self.memory.limits
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
        self.memory.good_cycle = NAN
        self.memory.request_age_ns = lim.max_request_age_ns
        self.memory.heartbeat_ns = -lim.heartbeat_timeout_ns - 1
        self.view.abi = BLOCK_ABI
        self.view.step = step_guard
        self.view.self = &self.memory

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

    def capsule(self):
        return PyCapsule_New(&self.view, "rigloop.block", NULL)

"""The distributed clock of a slave: a local clock that drifts, arrival times at the ports, the loop
that steers the system time to the reference, and SYNC0.

system time = local clock + offset (0x0920). Every write of the reference time to 0x0910 corrects it:

    difference = own system time - (reference time + delay (0x0928))
    local clock -= k_p difference,    speed -= k_i difference / time since the last write

with k_p = 2^-(filter - 1) (0x0934; filter 4: 1/8) and k_i = k_p^2 / 4, critically damped. A difference
counts as STEP_NS at most, so that one bad telegram does no harm: larger offsets are for 0x0920.
"""
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset

from io_bridge.emulator.controller.memory cimport (
    N_PORTS, REG_DC_DELAY, REG_DC_DIFFERENCE, REG_DC_FILTER, REG_DC_OFFSET, REG_DC_PORTS,
    REG_DC_RECEIVE, REG_SYNC_ACTIVATION, REG_SYNC_START, Clock, Esc,
)
from io_bridge.emulator.controller.rounding cimport whole
from io_bridge.wire.fields cimport get32, get64, put32, put64

cdef enum:
    STEP_NS = 100000
    LARGEST_DIFFERENCE = 0x7FFFFFFF
    SHORTEST_NS = 10000         # between two writes; the speed would take too much of less

cdef double SPEED_LIMIT = 1e-3      # of the loop: far beyond any crystal


cdef int64_t clock_local_ns(const Esc *esc, int64_t t_ns) noexcept nogil:
    """Local clock at a segment time."""
    cdef const Clock *c = &esc.clock
    cdef double gone = <double> (t_ns - c.base_ns)
    cdef double extra = gone * (c.drift + c.speed) + c.rest_ns
    return c.base_local_ns + (t_ns - c.base_ns) + whole(extra)


cdef void rebase(Esc *esc, int64_t t_ns) noexcept nogil:
    """Start a new straight line at t_ns, before drift or speed changes."""
    cdef Clock *c = &esc.clock
    cdef double extra = <double> (t_ns - c.base_ns) * (c.drift + c.speed) + c.rest_ns
    cdef int64_t extra_ns = whole(extra)
    c.base_local_ns += t_ns - c.base_ns + extra_ns
    c.rest_ns = extra - <double> extra_ns
    c.base_ns = t_ns


cdef void clock_power_on(Esc *esc) noexcept nogil:
    """The local clock starts over, the crystal is the same."""
    cdef double drift = esc.clock.drift
    cdef int64_t start = esc.clock.start_ns
    memset(&esc.clock, 0, sizeof(Clock))
    esc.clock.drift = drift
    esc.clock.start_ns = start
    esc.clock.base_ns = esc.now_ns
    esc.clock.base_local_ns = start
    esc.sync_running = 0


cdef void clock_set_drift(Esc *esc, double drift) noexcept nogil:
    """From now on; 20e-6 = 20 ppm fast."""
    rebase(esc, esc.now_ns)
    esc.clock.drift = drift


cdef uint64_t clock_system_ns(const Esc *esc) noexcept nogil:
    """System time when the frame under way is here."""
    cdef int64_t local = clock_local_ns(esc, esc.now_ns + esc.arrival_ns)
    return <uint64_t> local + get64(esc.memory + REG_DC_OFFSET)


cdef void clock_latch(Esc *esc) noexcept nogil:
    """A write to 0x0900 latches when this frame came in at every port, and at the processing
    unit."""
    cdef int i
    cdef int64_t local
    for i in range(N_PORTS):
        local = clock_local_ns(esc, esc.now_ns + esc.port_ns[i])
        put32(esc.memory + REG_DC_PORTS + 4 * i, <uint32_t> local)
    local = clock_local_ns(esc, esc.now_ns + esc.arrival_ns)
    put64(esc.memory + REG_DC_RECEIVE, <uint64_t> local)


cdef double bounded(double x, double limit) noexcept nogil:
    return limit if x > limit else -limit if x < -limit else x


cdef void clock_steer(Esc *esc, uint64_t reference_ns) noexcept nogil:
    """The reference time arrived: show the difference, sign and magnitude, and correct the clock."""
    cdef Clock *c = &esc.clock
    cdef uint32_t delay = get32(esc.memory + REG_DC_DELAY)
    cdef int64_t difference = <int64_t> (clock_system_ns(esc) - reference_ns - delay)
    cdef int64_t size = -difference if difference < 0 else difference
    cdef uint32_t sign = <uint32_t> (difference < 0) << 31
    cdef double gain = 2.0 / (1 << (esc.memory[REG_DC_FILTER] & 0x0F))
    cdef int64_t here = esc.now_ns + esc.arrival_ns
    cdef int64_t since = here - c.steered_ns
    cdef double step
    if size > LARGEST_DIFFERENCE or size < 0:
        size = LARGEST_DIFFERENCE
    put32(esc.memory + REG_DC_DIFFERENCE, <uint32_t> size | sign)
    step = bounded(-<double> size if sign else <double> size, STEP_NS)
    gain = bounded(gain, 1.0)
    rebase(esc, here)
    c.rest_ns -= gain * step
    if c.steered_ns and since >= SHORTEST_NS:
        c.speed = bounded(c.speed - 0.25 * gain * gain * step / <double> since, SPEED_LIMIT)
    c.steered_ns = here


cdef void clock_loop_reset(Esc *esc) noexcept nogil:
    """A write to the speed counter or the filters starts the loop again."""
    rebase(esc, esc.now_ns + esc.arrival_ns)
    esc.clock.speed = 0.0
    esc.clock.steered_ns = 0


cdef void sync_activated(Esc *esc) noexcept nogil:
    """SYNC0 runs when it is switched on before its start time, and not otherwise."""
    cdef uint64_t start = get64(esc.memory + REG_SYNC_START)
    cdef int wanted = esc.memory[REG_SYNC_ACTIVATION] & 0x03 == 0x03
    if not wanted:
        esc.sync_running = 0
    elif not esc.sync_running:
        esc.sync_running = start > clock_system_ns(esc)

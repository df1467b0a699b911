"""Decide why a cycle was late or outlived its period.

Facts of a cycle: its planned deadline, when its thread was back from its sleep, when it began and ended, the
thread's own CPU time in between, and the wall time of the bus blocks and of all blocks. From these follow four times,
each with its usual part taken off; the greatest is the cause.

late wake
    begin - deadline, if the thread still slept at its deadline. It was to be run and was not: timer, kernel, a thread
    of higher priority, or a host that had taken the core.
stolen
    wall - CPU time, minus the time that the bus blocks may have slept; and begin - deadline, if the thread was awake
    before its deadline. A thread that works or spins and yet makes no progress has lost its core: to the host,
    to a thread of higher priority, or to real-time throttling.
    Also the time outside of all blocks, minus the usual: the loop's own few instructions are the same in each cycle.
    They last longer after an interrupt, whose time the kernel counts as the thread's, or on a host that does not report
    the time that it takes.
bus
    Time of the bus blocks, minus the usual: a reply that came late, or not at all.
own
    Time of the other blocks, minus the usual: their work.
untold
    The same, where no report of the blocks explains it: untold.pxd decides between the two.

The usual is the running mean over cycles that kept their period: a task that takes 80 % of its period every time and
is woken 30 % late was late because of the wake. Stolen time that did not lie outside of the blocks lies somewhere in
the bus or the other blocks; it is subtracted from the one of the two with the greater surplus.
A bus block that sleeps cannot be distinguished from one whose core was taken, so up to `bus_wait_ns` of the time
that it was off the core belongs to the bus; the rest is stolen.
A cycle that kept its period and was only begun late has no other cause than its begin. One that was begun periods
too late and then outlives the one that it counts for is two overruns, each with its own cause: the lost periods do
not count for the second.

Four times are compared, and not tried one after the other for being enough: where two of them are, each alone would
have been too much, and the greater one is the one to mend.
"""
from libc.stdint cimport int64_t

cpdef enum Cause:
    NONE = 0
    LATE_WAKE = 1
    STOLEN = 2
    OWN = 3
    BUS = 4
    UNTOLD = 5

cdef struct Facts:               # of one cycle; moments are CLOCK_MONOTONIC
    int64_t deadline_ns          # when it was to begin; for `attribute` of the period that it counts for
    int64_t woke_ns              # back from its sleep; or the end of the cycle before, if there was no time for one
    int64_t begin_ns
    int64_t end_ns
    int64_t limit_ns             # when the next one was to begin
    int64_t cpu_ns               # CPU time of the thread from begin to end; of a short cycle its wall time
    int64_t blocks_ns            # wall time of all blocks
    int64_t bus_ns               # of the bus blocks
    int64_t bus_wait_ns          # of which they may have slept
    int64_t usual_own_ns         # of the blocks but the bus
    int64_t usual_bus_ns
    int64_t usual_rest_ns        # outside of all blocks


cdef inline Cause begun_late(const Facts *f) noexcept nogil:
    return LATE_WAKE if f.woke_ns > f.deadline_ns else STOLEN


cdef inline Cause attribute(const Facts *f) noexcept nogil:
    cdef int64_t wall = f.end_ns - f.begin_ns
    cdef int64_t off = max(wall - f.cpu_ns, 0)
    cdef int64_t outside = max(wall - f.blocks_ns - f.usual_rest_ns, 0)
    cdef int64_t stolen = max(off - min(f.bus_ns, f.bus_wait_ns) - outside, 0)
    cdef int64_t late = f.begin_ns - f.deadline_ns
    cdef int64_t bus = f.bus_ns - f.usual_bus_ns
    cdef int64_t own = f.blocks_ns - f.bus_ns - f.usual_own_ns
    cdef int64_t most
    cdef Cause cause
    if f.end_ns < f.limit_ns:
        return begun_late(f)
    if bus > own:
        most = min(stolen, max(bus, 0))
        bus -= most
        own -= stolen - most
    else:
        most = min(stolen, max(own, 0))
        own -= most
        bus -= stolen - most
    stolen += outside
    if begun_late(f) == STOLEN:
        stolen += late
        late = 0
    cause, most = OWN, own
    if bus > most:
        cause, most = BUS, bus
    if late > most:
        cause, most = LATE_WAKE, late
    if stolen > most:
        cause = STOLEN
    return cause

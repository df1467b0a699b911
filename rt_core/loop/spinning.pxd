"""Waiting for a deadline awake: sleep, touch the pages of the cycle, then look at the clock until it is time."""
from libc.stdint cimport int64_t

from rt_core.loop.clock cimport now_ns, relax, sleep_until, thread_cpu_ns
from rt_core.loop.warm cimport Warm, touch

cdef struct Spun:                # of one wait
    int64_t spun_ns              # looked at nothing but the clock
    int64_t gap_ns               # longest time between two looks
    int64_t begin_ns             # when the thread was awake
    int64_t cpu_ns               # its CPU time then; only if `looks`


cdef inline int64_t wait_awake(
    int64_t deadline_ns, int64_t spin_ns, int64_t *woke_ns, Warm *warm, bint looks, Spun *spun
) noexcept nogil:
    # returns the moment it came back, never before the deadline; `woke_ns` is when the sleep was over, and stays as it
    # was if there was no time for one
    cdef int64_t now, last, gap = 0
    spun.spun_ns = spun.gap_ns = 0
    now = sleep_until(deadline_ns - spin_ns, woke_ns)
    if now >= deadline_ns:
        return now
    spun.begin_ns = now
    if looks:
        spun.cpu_ns = thread_cpu_ns()
    if warm != NULL:
        now = touch(warm, now, deadline_ns)
    last = spun.spun_ns = now
    while now < deadline_ns:
        relax()
        now = now_ns()
        gap = max(gap, now - last)
        last = now
    spun.spun_ns = now - spun.spun_ns
    spun.gap_ns = gap
    return now

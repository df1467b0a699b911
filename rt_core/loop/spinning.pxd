"""Waiting for a deadline awake: sleep, touch the pages of the cycle, then look at the clock until it is time."""
from libc.stdint cimport int64_t

from rt_core.loop.clock cimport (
    CLOCK_MONOTONIC, TIMER_ABSTIME, clock_nanosleep, now_ns, relax, thread_cpu_ns, time_t, timespec,
)
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
    cdef int64_t until = deadline_ns - spin_ns
    cdef int64_t now = now_ns()
    cdef int64_t last, gap = 0
    cdef timespec t
    spun.spun_ns = spun.gap_ns = 0
    if now < until:
        t.tv_sec = <time_t>(until // 1000000000)
        t.tv_nsec = <long>(until % 1000000000)
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL)
        now = now_ns()
        woke_ns[0] = now
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

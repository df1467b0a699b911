"""Measure the wake-up lateness of a sleeping thread, and the rate at which memory accesses are held up."""
import numpy as np

from libc.stdint cimport int64_t

from rt_core.loop.clock cimport now_ns, thread_cpu_ns, wait_until
from rt_core.loop.thread cimport join_thread, pthread_t, settle_thread, start_thread

cdef enum:
    PAGE_BYTES = 4096

cdef struct Meter:
    int64_t period_ns
    int64_t n
    int64_t *late_ns


cdef void *_measure(void *arg) noexcept nogil:
    cdef Meter *meter = <Meter *>arg
    cdef int64_t next_ns, now, i
    settle_thread()
    next_ns = now_ns()
    for i in range(meter.n):
        # the phase is kept, and periods that were slept through are left out, as in the loop
        next_ns += meter.period_ns
        now = wait_until(next_ns, 0)
        meter.late_ns[i] = now - next_ns
        next_ns += (now - next_ns) // meter.period_ns * meter.period_ns
    return NULL


def measure_wakes(period_ns, n, *, priority=0, core=None):
    cdef Meter meter
    cdef pthread_t thread
    if period_ns < 1 or n < 1:
        raise ValueError(f"period_ns = {period_ns} and n = {n} must be at least 1")
    cdef int64_t[::1] late_ns = np.zeros(n, np.int64)
    meter.period_ns = period_ns
    meter.n = n
    meter.late_ns = &late_ns[0]
    start_thread(&thread, _measure, &meter, "rt-calibrate", priority, core)
    with nogil:
        join_thread(thread)
    return np.asarray(late_ns)


cdef struct Touches:
    int64_t n                    # pages that were touched
    int64_t holes
    int64_t longest_ns


cdef void _touch(
    char *pages, int64_t n, int64_t until_ns, int64_t pause_ns, int64_t hole_ns, Touches *found
) noexcept nogil:
    cdef int64_t begin, cpu, now, last, i, gap, told
    found.n = found.holes = found.longest_ns = 0
    last = now_ns()
    while last < until_ns:
        begin = last
        cpu = thread_cpu_ns()
        gap = 0
        for i in range(n):
            pages[i * PAGE_BYTES + ((i * 64) & 4032)] += 1
            now = now_ns()
            gap = max(gap, now - last)
            last = now
        found.n += n
        # time that other threads and the kernel took is reported; the rest is the host's
        told = max((last - begin) - (thread_cpu_ns() - cpu), <int64_t>0)
        if gap - told >= hole_ns:
            found.holes += 1
            found.longest_ns = max(found.longest_ns, gap - told)
        last = wait_until(now_ns() + pause_ns, 0)


def measure_touches(seconds, *, pages=512, pause_ns=1000000, hole_ns=50000):
    cdef Touches found
    cdef int64_t n = pages, pause = pause_ns, hole = hole_ns
    cdef int64_t until_ns
    if not seconds > 0 or pages < 1 or pause_ns < 0 or hole_ns < 1:
        raise ValueError(
            f"seconds = {seconds}, pages = {pages}, pause_ns = {pause_ns}, hole_ns = {hole_ns}: out of range")
    cdef signed char[::1] memory = np.ones((pages + 1) * PAGE_BYTES, np.int8)
    until_ns = now_ns() + <int64_t>(seconds * 1e9)
    with nogil:
        _touch(<char *>&memory[0], n, until_ns, pause, hole, &found)
    return found.n, found.holes, found.longest_ns

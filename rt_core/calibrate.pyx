"""How late a sleeping thread of this machine wakes up."""
import numpy as np

from libc.stdint cimport int64_t

from rt_core.clock cimport now_ns, wait_until
from rt_core.thread cimport join_thread, pthread_t, settle_thread, start_thread

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

"""The limit of overruns: N points within M periods."""
from libc.stdint cimport int64_t

from rt_core.lateness.cause cimport OWN, STOLEN, UNTOLD, Cause

cdef enum:
    SKIP = 0                     # count and continue
    SAFE = 1                     # latch the task's fault: the guard ramps out
    STOP_LOOP = 2
    MOST_POINTS = 64

cdef struct Policy:
    int action
    int limit                    # points, 1 to MOST_POINTS
    int64_t window               # periods
    bint ignore_stolen
    int64_t points[MOST_POINTS]  # when the newest `limit` points were, a ring
    int64_t n                    # points in all


cdef inline int count_overrun(Policy *policy, int64_t k, Cause cause) noexcept nogil:
    # an overrun of the task's own making counts twice: it will come again; so does one that may be its own, as nobody
    # reported for another cause. Returns the points within the window: `window` periods, this one included
    cdef int weight = 2 if cause in (OWN, UNTOLD) else 0 if cause == STOLEN and policy.ignore_stolen else 1
    cdef int level = 0
    cdef int64_t i
    for _ in range(weight):
        policy.points[policy.n % policy.limit] = k
        policy.n += 1
    for i in range(min(policy.n, <int64_t>policy.limit)):
        level += k - policy.points[i] < policy.window
    return level

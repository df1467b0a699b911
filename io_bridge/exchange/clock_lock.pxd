"""The cycle's phase lock to the reference clock of the bus."""
from libc.stdint cimport int64_t, uint64_t

cdef struct ClockLock:
    int on
    int64_t period_ns
    int64_t shift_ns         # wanted phase of the frame within a period of system time
    double gain_p            # correction a cycle by phase error
    double gain_i
    double limit_ns          # of a correction
    double tolerance_ns
    int settle_cycles        # within the tolerance for so long: locked
    int64_t patience_cycles  # without a lock for longer is a fault
    # state
    double drift_ns          # gain of the reference clock in a cycle
    double error_ns          # how much too late the last frame passed
    double smooth_ns
    double steer_ns          # correction of the next deadline
    double total_ns          # of all of them
    int good_cycles
    int64_t waited           # cycles without a lock
    int locked
    int was_locked

cdef void lock_reset(ClockLock *c) noexcept nogil
cdef void lock_update(ClockLock *c, uint64_t reference_ns) noexcept nogil
cdef void lock_coast(ClockLock *c) noexcept nogil
cdef ClockLock design(config) except *


cdef class PhaseLock:
    cdef ClockLock state

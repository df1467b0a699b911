"""The thread of one task, and the state that it shares with its loop."""
from libc.stdint cimport int64_t

from rt_core.loop.cycle cimport CycleState
from rt_core.loop.explain cimport Explainer
from rt_core.lateness.policy cimport Policy
from rt_core.loop.thread cimport pthread_t
from rt_core.lateness.trace cimport Trace
from rt_core.loop.warm cimport Warm

cdef enum:
    NEVER = -1                   # a start_ns: some thread could not be made, so none steps

cdef struct Shared:              # messages between the threads of a loop and its owner
    int64_t start_ns             # common time zero; 0: not yet
    int64_t shift_ns             # distance by which an outside clock has moved it
    int64_t stop                 # ramp out
    int64_t end                  # this cycle is the last

cdef struct Thread:
    pthread_t id
    bint created
    int64_t ready
    int64_t ended
    int64_t beat_ns              # deadline of the cycle under way, or of the next one
    int64_t beat_cycle           # number of the cycle under way
    Shared *shared
    CycleState *cycle
    int64_t period_ns
    const double *steer          # cell with the next part of the move of shift_ns; NULL: nothing steers
    double steer_rest_ns         # less than a nanosecond, kept for the next part
    int64_t spin_ns              # most; the part of SPIN_DUTY beside the usual work is spun
    Warm *warm                   # memory touched while spinning, NULL: none
    int64_t late_limit_ns
    int64_t stall_ns             # as long without a new cycle: the watchdog acts
    int64_t bus_wait_ns
    int core                     # that it is pinned to; -1: none
    bint off_core_is_fault
    bint explains                # off: no CPU time, no causes, no trace
    Policy policy
    Explainer explainer
    Trace trace
    int64_t *ring
    int64_t slots
    int64_t *late
    int64_t *step
    int64_t *bus
    int64_t *total
    int64_t *spin
    int64_t *explain             # time that CPU times, cause and trace took themselves


cdef int spawn(Thread *thread, object task, bint fifo) except -1
cdef void join(Thread *thread) noexcept

"""The thread of one task, and what it shares with its loop."""
from libc.stdint cimport int64_t

from rt_core.cycle cimport CycleState

cdef extern from "<pthread.h>" nogil:
    ctypedef unsigned long pthread_t

# overrun policies
cdef enum:
    SKIP = 0
    LATCH_FAULT = 1
    STOP_LOOP = 2

cdef enum:
    NEVER = -1                   # a start_ns: some thread could not be made, so none steps

cdef struct Shared:              # what the threads of a loop and its owner tell each other
    int64_t start_ns             # common time zero; 0: not yet
    int64_t stop                 # ramp out
    int64_t end                  # this cycle is the last

cdef struct Thread:
    pthread_t id
    bint created
    int64_t ready
    int64_t ended
    Shared *shared
    CycleState *cycle
    int64_t period_ns
    int64_t spin_ns
    int overrun
    int64_t overrun_limit
    int64_t *ring
    int64_t slots
    int64_t *late
    int64_t *step
    int64_t *bus
    int64_t *total


cdef int spawn(Thread *thread, object task, bint fifo) except -1
cdef void join(Thread *thread) noexcept

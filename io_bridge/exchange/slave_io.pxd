"""State of a slave in the cycle: the places of its datagrams, and whether its data are valid."""
from libc.stdint cimport int64_t, uint64_t

from io_bridge.wire.cycle_frames cimport CycleFrames

cdef enum:
    N_SLAVE_WRITES = 8

cdef enum:                   # positions in SLAVE_WRITES
    VALID = 0
    AL_STATE = 1
    AL_CODE = 2
    WKC = 3
    WKC_EXPECTED = 4
    WKC_MIN = 5
    INVALID_CYCLES = 6
    DC_DIFFERENCE = 7

cdef enum Finding:           # why a slave's data are not valid
    GOOD = 0
    WRONG_COUNTER = 1
    STALE = 2

cdef struct SlaveIo:
    # offsets of its datagrams; 0 = none
    int al_at
    int clock_at
    int inputs_at
    int outputs_at
    int joined               # an axis of the slave before it: its datagrams are that one's
    # state
    uint64_t clock_ns        # system time in its last reply
    int answers              # it reported its AL state in the last reply
    int al_status
    int al_code
    double *writes[N_SLAVE_WRITES]

cdef void slave_reset(SlaveIo *s) noexcept nogil
cdef Finding slave_receive(SlaveIo *s, const CycleFrames *f) noexcept nogil
cdef void slave_missed(SlaveIo *s) noexcept nogil

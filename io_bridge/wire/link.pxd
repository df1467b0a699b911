"""The carrier of frames between the cycle and the slaves: a raw socket, or the segment in this
process."""
from libc.stdint cimport int64_t, uint8_t

cdef struct RingWatch:
    # counters of a master with a cable at both ends of the segment
    int open                 # 1: some cable is out
    int near                 # slaves on the first cable's side of the gap, while it is open
    int64_t breaks           # times that the ring was found open

cdef struct Transport:
    void *self
    const RingWatch *ring    # NULL: there is one cable
    # the cycle is over: throw away frames that wait, and return how many there were; `is_empty`: `receive` has just
    # found none, and the line is not asked again
    int (*drain)(void *self, int is_empty) noexcept nogil
    # hand over a frame; t_ns is the cycle's nominal time. Return 0, or -1 when the link refuses
    int (*send)(void *self, const uint8_t *frame, int size, int64_t t_ns) noexcept nogil
    # wait until deadline_ns (CLOCK_MONOTONIC) for a frame; return its size, or 0 when none came
    int (*receive)(void *self, uint8_t *frame, int capacity, int64_t deadline_ns) noexcept nogil


cdef class Link:
    cdef Transport transport

from libc.stdint cimport int64_t, uint8_t

from io_bridge.esc_memory cimport Esc
from io_bridge.topology cimport MAX_SLAVES, Ring

cdef int ring_process(Ring *ring, uint8_t *frame, int size, int64_t t_ns) noexcept nogil
cdef int ring_process_end(Ring *ring, int *end, uint8_t *frame, int size,
                          int64_t t_ns) noexcept nogil
cdef void ring_advance(Ring *ring, int64_t t_ns) noexcept nogil


cdef class SlaveDevice:
    cdef Esc esc


cdef class Segment:
    cdef Ring ring
    cdef readonly tuple devices

    cdef int _position(self, position) except -1
    cdef int _cable(self, position) except -1

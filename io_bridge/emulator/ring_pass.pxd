from libc.stdint cimport int64_t, uint8_t

from io_bridge.emulator.topology cimport Ring

cdef int ring_process(Ring *ring, uint8_t *frame, int size, int64_t t_ns) noexcept nogil
cdef int ring_process_end(Ring *ring, int *end, uint8_t *frame, int size,
                          int64_t t_ns) noexcept nogil
cdef void ring_advance(Ring *ring, int64_t t_ns) noexcept nogil

from libc.stdint cimport uint8_t

from io_bridge.esc_memory cimport Esc
from io_bridge.frame cimport Datagram

cdef int slave_process(Esc *esc, uint8_t *frame, int at, const Datagram *d) noexcept nogil

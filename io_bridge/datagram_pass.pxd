from libc.stdint cimport uint8_t

from io_bridge.frame cimport Datagram
from io_bridge.passage cimport Passage

cdef void datagram_process(Passage *p, uint8_t *frame, const Datagram *d) noexcept nogil

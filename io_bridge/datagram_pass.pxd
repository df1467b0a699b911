from libc.stdint cimport uint8_t

from io_bridge.frame cimport Datagram
from io_bridge.topology cimport Ring

cdef void datagram_process(Ring *ring, const int *order, int n, uint8_t *frame, int at,
                           const Datagram *d) noexcept nogil

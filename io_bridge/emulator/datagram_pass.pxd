from libc.stdint cimport uint8_t

from io_bridge.wire.frame cimport Datagram
from io_bridge.emulator.passage cimport Passage

cdef void datagram_process(Passage *p, uint8_t *frame, const Datagram *d) noexcept nogil

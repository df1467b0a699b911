from libc.stdint cimport int64_t, uint8_t

from io_bridge.esc_memory cimport Esc
from io_bridge.frame cimport Datagram
from io_bridge.topology cimport MAX_SLAVES, Ring

cdef struct Passage:
    # the slaves that a frame passes, in order, and what each answers to, side by side: most datagrams
    # are for one of them
    int n
    int stale                        # a datagram has changed what one of them answers to
    Esc *slaves[MAX_SLAVES]
    int station[MAX_SLAVES]
    int alias[MAX_SLAVES]
    int64_t logical_first[MAX_SLAVES]
    int64_t logical_end[MAX_SLAVES]

cdef void passage_begin(Passage *p, const Ring *ring, const int *order, int n) noexcept nogil
cdef void datagram_process(Passage *p, uint8_t *frame, const Datagram *d) noexcept nogil

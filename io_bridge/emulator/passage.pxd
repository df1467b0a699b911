from libc.stdint cimport int64_t

from io_bridge.emulator.controller.memory cimport Esc

cdef enum:
    MAX_SLAVES = 32

cdef struct Passage:
    # the slaves that a frame passes, in order, and the addresses of each, side by side: most datagrams
    # are for one of them
    int n
    int stale                        # a datagram has changed an address of one of them
    int stations_apart               # no two of them answer to the same station
    int logical_apart                # or to the same logical byte
    int last                         # who was meant last: often the next one too
    Esc *slaves[MAX_SLAVES]
    int version[MAX_SLAVES]          # of the slave's addresses that stand here
    int station[MAX_SLAVES]
    int alias[MAX_SLAVES]
    int64_t logical_first[MAX_SLAVES]
    int64_t logical_end[MAX_SLAVES]


cdef inline int has_station(const Passage *p, int i, int who) noexcept nogil:
    return p.station[i] == who or p.alias[i] == who


cdef inline int has_logical(const Passage *p, int i, int64_t first, int64_t end) noexcept nogil:
    return p.logical_first[i] < end and first < p.logical_end[i]


cdef void passage_begin(Passage *p, Esc **slaves, const int *order, int n) noexcept nogil
cdef void passage_learn(Passage *p) noexcept nogil

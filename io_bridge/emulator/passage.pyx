"""The slaves on the way of a frame, and the addresses of each: kept from frame to frame, and read again when slaves
were added or removed, or a datagram has changed an address."""
from io_bridge.emulator.controller.addresses cimport addresses_find
from io_bridge.emulator.controller.memory cimport Addresses, Esc


cdef void find_apart(Passage *p) noexcept nogil:
    cdef int i, j
    p.stations_apart = 1
    p.logical_apart = 1
    for i in range(p.n):
        for j in range(i):
            if has_station(p, i, p.station[j]) or has_station(p, i, p.alias[j]):
                p.stations_apart = 0
            if has_logical(p, i, p.logical_first[j], p.logical_end[j]):
                p.logical_apart = 0


cdef void passage_learn(Passage *p) noexcept nogil:
    """Read the addresses of each slave."""
    cdef Addresses *a
    cdef int i
    for i in range(p.n):
        a = &p.slaves[i].addresses
        if not a.known:
            addresses_find(p.slaves[i])
        p.version[i] = a.version
        p.station[i] = a.station
        p.alias[i] = a.alias
        p.logical_first[i] = a.logical_first
        p.logical_end[i] = a.logical_end
    find_apart(p)
    p.last = 0
    p.stale = 0


cdef void passage_begin(Passage *p, Esc **slaves, const int *order, int n) noexcept nogil:
    """A frame comes to n slaves; it passes by those without power."""
    cdef Esc *esc
    cdef int passed = 0
    cdef int i
    for i in range(n):
        esc = slaves[order[i]]
        if esc.mute:
            continue
        if not esc.addresses.known:
            addresses_find(esc)
        if p.slaves[passed] != esc or p.version[passed] != esc.addresses.version:
            p.slaves[passed] = esc
            p.stale = 1
        passed += 1
    if p.stale or p.n != passed:
        p.n = passed
        passage_learn(p)

"""A datagram on its way through slaves: the addressed slaves, their actions, and the working counter."""
from libc.stdint cimport int64_t, uint8_t, uint16_t
from libc.string cimport memcpy

from io_bridge.emulator.fmmu cimport fmmu_read, fmmu_write
from io_bridge.emulator.controller.memory cimport Esc
from io_bridge.emulator.controller.registers cimport esc_read, esc_write
from io_bridge.wire.frame cimport (
    APRD, APRW, APWR, ARMW, BRD, BRW, BWR, DATAGRAM_HEADER, FPRD, FPRW, FPWR, FRMW, LRD, LRW, LWR,
    MAX_FRAME, Datagram,
)
from io_bridge.emulator.passage cimport Passage, has_logical, has_station, passage_learn
from io_bridge.wire.fields cimport get16, put16


cdef int read_write(Passage *p, int i, int reading, int writing, int address, int n,
                    uint8_t *data) noexcept nogil:
    """Read and/or write slave i; a read returns the bytes from before the write. Return the
    counter's increment."""
    cdef uint8_t sent[MAX_FRAME]
    cdef Esc *esc = p.slaves[i]
    cdef int wkc = 0
    if not writing:
        return esc_read(esc, address, n, data)
    if reading:
        memcpy(sent, data, n)
        wkc = esc_read(esc, address, n, data)
        wkc += 2 * esc_write(esc, address, n, sent)
    else:
        wkc = esc_write(esc, address, n, data)
    p.stale |= not esc.addresses.known
    return wkc


cdef int broadcast_read(Esc *esc, int address, int n, uint8_t *data) noexcept nogil:
    """BRD ORs the bytes of each slave into the data."""
    cdef uint8_t own[MAX_FRAME]
    cdef int i
    if not esc_read(esc, address, n, own):
        return 0
    for i in range(n):
        data[i] |= own[i]
    return 1


cdef int logical_access(Passage *p, int i, uint8_t *frame, const Datagram *d) noexcept nogil:
    """Outputs are taken from the received data before inputs overwrite it."""
    cdef Esc *esc = p.slaves[i]
    cdef uint8_t *data = frame + d.data
    cdef int wkc = 0
    if d.command != LRD:
        wkc = fmmu_write(esc, d.address, d.size, data) * (2 if d.command == LRW else 1)
        p.stale |= not esc.addresses.known
    if d.command != LWR:
        wkc += fmmu_read(esc, d.address, d.size, data)
    return wkc


cdef int logical_datagram(Passage *p, uint8_t *frame, const Datagram *d) noexcept nogil:
    cdef int64_t first = d.address
    cdef int64_t end = first + d.size
    cdef int wkc = 0
    cdef int i = p.last
    if p.n and p.logical_apart and p.logical_first[i] <= first and end <= p.logical_end[i]:
        return logical_access(p, i, frame, d)
    for i in range(p.n):
        if has_logical(p, i, first, end):
            p.last = i
            wkc += logical_access(p, i, frame, d)
    return wkc


cdef int station_datagram(Passage *p, uint8_t *frame, const Datagram *d) noexcept nogil:
    """FPRD, FPWR and FPRW: to a station address, or to an alias where it is in use."""
    cdef int who = d.address & 0xFFFF
    cdef int wkc = 0
    cdef int i = p.last if p.stations_apart else 0
    cdef int _k
    for _k in range(p.n):
        if has_station(p, i, who):
            p.last = i
            wkc += read_write(p, i, d.command != FPWR, d.command != FPRD, d.address >> 16, d.size,
                              frame + d.data)
            if p.stations_apart:
                return wkc
        i = i + 1 if i + 1 < p.n else 0
    return wkc


cdef int handed_on_datagram(Passage *p, uint8_t *frame, const Datagram *d) noexcept nogil:
    """FRMW: the station that is meant is read, all others are written."""
    cdef int who = d.address & 0xFFFF
    cdef int wkc = 0
    cdef int i, mine
    for i in range(p.n):
        mine = has_station(p, i, who)
        wkc += read_write(p, i, mine, not mine, d.address >> 16, d.size, frame + d.data)
    return wkc


cdef int position_datagram(Passage *p, uint8_t *frame, const Datagram *d) noexcept nogil:
    """APRD, APWR, APRW, ARMW and the broadcasts: every slave counts the position up, and at 0 it is
    meant."""
    cdef uint16_t who = <uint16_t> (d.address & 0xFFFF)
    cdef int register = d.address >> 16
    cdef int command = d.command
    cdef uint8_t *data = frame + d.data
    cdef int wkc = 0
    cdef int i, mine
    for i in range(p.n):
        mine = who == 0
        who += 1
        if command == BRD:
            wkc += broadcast_read(p.slaves[i], register, d.size, data)
        elif command == BWR:
            wkc += read_write(p, i, 0, 1, register, d.size, data)
        elif command == BRW:
            wkc += read_write(p, i, 1, 1, register, d.size, data)
        elif command == ARMW:
            wkc += read_write(p, i, mine, not mine, register, d.size, data)
        elif mine:
            wkc += read_write(p, i, command != APWR, command != APRD, register, d.size, data)
    put16(data - DATAGRAM_HEADER + 2, who)
    return wkc


cdef void datagram_process(Passage *p, uint8_t *frame, const Datagram *d) noexcept nogil:
    """Pass a datagram through the slaves, in order, and count up its working counter."""
    cdef uint8_t *counter = frame + d.next - 2
    cdef int command = d.command
    cdef int wkc
    if p.stale:
        passage_learn(p)
    if command in (LRD, LWR, LRW):
        wkc = logical_datagram(p, frame, d)
    elif command in (FPRD, FPWR, FPRW):
        wkc = station_datagram(p, frame, d)
    elif command == FRMW:
        wkc = handed_on_datagram(p, frame, d)
    elif command in (APRD, APWR, APRW, ARMW, BRD, BWR, BRW):
        wkc = position_datagram(p, frame, d)
    else:
        return
    put16(counter, <uint16_t> (get16(counter) + wkc))

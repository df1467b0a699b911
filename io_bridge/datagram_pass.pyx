"""A datagram on its way through slaves: who is meant by it, what they do, and the working counter."""
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy

from io_bridge.esc_fmmu cimport fmmu_read, fmmu_write
from io_bridge.esc_memory cimport REG_ALIAS, REG_ALIAS_USE, REG_STATION, Esc
from io_bridge.esc_registers cimport esc_find_window, esc_read, esc_write
from io_bridge.frame cimport (
    APRD, APRW, APWR, ARMW, BRD, BRW, BWR, FPRD, FPRW, FPWR, FRMW, LRD, LRW, LWR, MAX_FRAME, Datagram,
)
from io_bridge.topology cimport Ring
from io_bridge.wire cimport get16, put16


cdef int read_write(Esc *esc, int reading, int writing, int address, int n,
                    uint8_t *data) noexcept nogil:
    """Read and/or write the slave; a read returns what was there before the write. Return the
    counter's increment."""
    cdef uint8_t sent[MAX_FRAME]
    cdef int wkc = 0
    if reading and writing:
        memcpy(sent, data, n)
        wkc = esc_read(esc, address, n, data)
        return wkc + 2 * esc_write(esc, address, n, sent)
    if reading:
        return esc_read(esc, address, n, data)
    return esc_write(esc, address, n, data)


cdef int broadcast_read(Esc *esc, int address, int n, uint8_t *data) noexcept nogil:
    """BRD ORs what each slave holds into the data."""
    cdef uint8_t own[MAX_FRAME]
    cdef int i
    if not esc_read(esc, address, n, own):
        return 0
    for i in range(n):
        data[i] |= own[i]
    return 1


cdef int logical_access(Esc *esc, int reading, int writing, uint32_t logical, int n,
                        uint8_t *data) noexcept nogil:
    """Outputs are taken from what arrived before inputs are laid over it. Return the counter's
    increment."""
    cdef int wkc = 0
    if writing:
        wkc = fmmu_write(esc, logical, n, data) * (2 if reading else 1)
    if reading:
        wkc += fmmu_read(esc, logical, n, data)
    return wkc


cdef inline int fmmus_meet(Esc *esc, int64_t first, int64_t end) noexcept nogil:
    """Whether a datagram can have bytes in common with an FMMU: with most slaves it has none."""
    if not esc.window_known:
        esc_find_window(esc)
    return esc.window_first < end and first < esc.window_end


cdef int logical_datagram(Ring *ring, const int *order, int n, uint8_t *frame,
                          const Datagram *d) noexcept nogil:
    cdef int reading = d.command != LWR
    cdef int writing = d.command != LRD
    cdef int64_t first = d.address
    cdef int64_t end = first + d.size
    cdef int wkc = 0
    cdef int i
    cdef Esc *esc
    for i in range(n):
        esc = ring.slaves[order[i]]
        if fmmus_meet(esc, first, end) and not esc.mute:
            wkc += logical_access(esc, reading, writing, d.address, d.size, frame + d.data)
    return wkc


cdef int station_datagram(Ring *ring, const int *order, int n, uint8_t *frame,
                          const Datagram *d) noexcept nogil:
    """FPRD, FPWR, FPRW and FRMW: to a station address, or to an alias where it is in use."""
    cdef uint16_t who = <uint16_t> (d.address & 0xFFFF)
    cdef int register = d.address >> 16
    cdef int reading = d.command != FPWR
    cdef int writing = d.command != FPRD
    cdef int everybody = d.command == FRMW
    cdef int wkc = 0
    cdef int i, mine
    cdef Esc *esc
    for i in range(n):
        esc = ring.slaves[order[i]]
        mine = who == get16(esc.memory + REG_STATION) or (
            esc.memory[REG_ALIAS_USE] & 1 and who == get16(esc.memory + REG_ALIAS))
        if not (mine or everybody) or esc.mute:
            continue
        if everybody:
            wkc += read_write(esc, mine, not mine, register, d.size, frame + d.data)
        else:
            wkc += read_write(esc, reading, writing, register, d.size, frame + d.data)
    return wkc


cdef int position_datagram(Ring *ring, const int *order, int n, uint8_t *frame, int at,
                           const Datagram *d) noexcept nogil:
    """APRD, APWR, APRW, ARMW and the broadcasts: every slave counts the position up, and at 0 it is
    meant."""
    cdef uint16_t who = <uint16_t> (d.address & 0xFFFF)
    cdef int register = d.address >> 16
    cdef int command = d.command
    cdef uint8_t *data = frame + d.data
    cdef int wkc = 0
    cdef int i, mine
    cdef Esc *esc
    for i in range(n):
        esc = ring.slaves[order[i]]
        if esc.mute:
            continue
        mine = who == 0
        who += 1
        if command == BRD:
            wkc += broadcast_read(esc, register, d.size, data)
        elif command == BWR:
            wkc += esc_write(esc, register, d.size, data)
        elif command == BRW:
            wkc += read_write(esc, 1, 1, register, d.size, data)
        elif command == ARMW:
            wkc += read_write(esc, mine, not mine, register, d.size, data)
        elif mine:
            wkc += read_write(esc, command != APWR, command != APRD, register, d.size, data)
    put16(frame + at + 2, who)
    return wkc


cdef void datagram_process(Ring *ring, const int *order, int n, uint8_t *frame, int at,
                           const Datagram *d) noexcept nogil:
    """Pass the datagram at `at` through n slaves, in order, and count up its working counter."""
    cdef uint8_t *counter = frame + d.next - 2
    cdef int command = d.command
    cdef int wkc
    if command in (LRD, LWR, LRW):
        wkc = logical_datagram(ring, order, n, frame, d)
    elif command in (FPRD, FPWR, FPRW, FRMW):
        wkc = station_datagram(ring, order, n, frame, d)
    elif command in (APRD, APWR, APRW, ARMW, BRD, BWR, BRW):
        wkc = position_datagram(ring, order, n, frame, at, d)
    else:
        return
    put16(counter, <uint16_t> (get16(counter) + wkc))

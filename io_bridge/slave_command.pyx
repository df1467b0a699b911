"""What one slave does with one datagram: which commands it acts on, and what it adds to the working
counter."""
from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy

from io_bridge.esc_fmmu cimport fmmu_read, fmmu_write
from io_bridge.esc_memory cimport REG_ALIAS, REG_STATION, Esc
from io_bridge.esc_registers cimport esc_read, esc_write
from io_bridge.frame cimport (
    APRD, APRW, APWR, ARMW, BRD, BRW, BWR, FPRD, FPRW, FPWR, FRMW, LRD, LRW, LWR, MAX_FRAME, Datagram,
)
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


cdef int slave_process(Esc *esc, uint8_t *frame, int at, const Datagram *d) noexcept nogil:
    """Let one slave act on the datagram at `at`. Return the counter's increment."""
    cdef uint8_t *data = frame + d.data
    cdef int command = d.command
    # each slave before may have counted the position up, so the header is read anew
    cdef uint16_t who = get16(frame + at + 2)
    cdef int register = get16(frame + at + 4)
    cdef int station = get16(esc.memory + REG_STATION)
    cdef int mine
    if command in (LRD, LWR, LRW):
        return logical_access(esc, command != LWR, command != LRD, d.address, d.size, data)
    if command in (APRD, APWR, APRW, ARMW):
        put16(frame + at + 2, <uint16_t> (who + 1))
        mine = who == 0
    elif command in (FPRD, FPWR, FPRW, FRMW):
        mine = who == station or (esc.memory[0x0103] & 1 and who == get16(esc.memory + REG_ALIAS))
    elif command in (BRD, BWR, BRW):
        put16(frame + at + 2, <uint16_t> (who + 1))
        if command == BRD:
            return broadcast_read(esc, register, d.size, data)
        if command == BWR:
            return esc_write(esc, register, d.size, data)
        return read_write(esc, 1, 1, register, d.size, data)
    else:
        return 0
    if command == ARMW or command == FRMW:
        return read_write(esc, mine, not mine, register, d.size, data)
    if not mine:
        return 0
    return read_write(esc, command in (APRD, APRW, FPRD, FPRW), command in (APWR, APRW, FPWR, FPRW),
                      register, d.size, data)

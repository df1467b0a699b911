"""Logical addresses: which bits of a datagram an FMMU takes to or from the controller's memory."""
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy

from io_bridge.esc_memory cimport ESC_MEMORY, N_FMMU, REG_FMMU, Esc
from io_bridge.esc_registers cimport esc_read, esc_write
from io_bridge.frame cimport MAX_FRAME
from io_bridge.pdo_mapping cimport copy_bits
from io_bridge.wire cimport get16, get32

cdef enum:
    READS = 1
    WRITES = 2

cdef struct Hit:
    int at                     # bit in the datagram's data
    int physical               # bit in memory
    int n                      # bits


cdef int fmmu_hit(const Esc *esc, int i, int direction, unsigned int logical, int n,
                  Hit *hit) noexcept nogil:
    """Where FMMU i meets the n bytes of a datagram. Return 0 when it does not."""
    cdef const uint8_t *fmmu = esc.memory + REG_FMMU + 16 * i
    cdef int64_t start, end, first, last
    if not fmmu[12] & 1 or not fmmu[11] & direction:
        return 0
    start = 8 * <int64_t> get32(fmmu)
    end = start + 8 * (<int64_t> get16(fmmu + 4) - 1) + (fmmu[7] & 7) + 1
    start += fmmu[6] & 7
    first = 8 * <int64_t> logical
    last = first + 8 * n
    first = start if start > first else first
    last = end if end < last else last
    if first >= last:
        return 0
    hit.at = <int> (first - 8 * <int64_t> logical)
    hit.physical = 8 * get16(fmmu + 8) + (fmmu[10] & 7) + <int> (first - start)
    hit.n = <int> (last - first)
    return 1


cdef int fmmu_read(Esc *esc, unsigned int logical, int n, uint8_t *data) noexcept nogil:
    """Return 1 if any input FMMU put bits into `data`."""
    cdef uint8_t memory[MAX_FRAME + 1]
    cdef Hit hit
    cdef int i, size
    cdef int done = 0
    for i in range(N_FMMU):
        if not fmmu_hit(esc, i, READS, logical, n, &hit):
            continue
        if not (hit.at | hit.physical | hit.n) & 7:
            done |= esc_read(esc, hit.physical >> 3, hit.n >> 3, data + (hit.at >> 3))
            continue
        size = ((hit.physical & 7) + hit.n + 7) >> 3
        if esc_read(esc, hit.physical >> 3, size, memory):
            copy_bits(data, hit.at, memory, hit.physical & 7, hit.n)
            done = 1
    return done


cdef int fmmu_write(Esc *esc, unsigned int logical, int n, const uint8_t *data) noexcept nogil:
    """Return 1 if any output FMMU took bits from `data`."""
    cdef uint8_t memory[MAX_FRAME + 1]
    cdef Hit hit
    cdef int i, at, size
    cdef int done = 0
    for i in range(N_FMMU):
        if not fmmu_hit(esc, i, WRITES, logical, n, &hit):
            continue
        if not (hit.at | hit.physical | hit.n) & 7:
            done |= esc_write(esc, hit.physical >> 3, hit.n >> 3, data + (hit.at >> 3))
            continue
        at = hit.physical >> 3
        size = ((hit.physical & 7) + hit.n + 7) >> 3
        if at + size > ESC_MEMORY:
            continue
        # the bits beside it stay
        memcpy(memory, esc.memory + at, size)
        copy_bits(memory, hit.physical & 7, data, hit.at, hit.n)
        done |= esc_write(esc, at, size, memory)
    return done

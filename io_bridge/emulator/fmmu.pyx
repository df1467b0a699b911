"""Logical addresses: which bits of a datagram an FMMU takes to or from the controller's memory."""
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy

from io_bridge.emulator.controller.addresses cimport addresses_find
from io_bridge.emulator.controller.memory cimport ESC_MEMORY, Addresses, Esc, FmmuMap
from io_bridge.emulator.controller.registers cimport esc_read, esc_write
from io_bridge.wire.frame cimport MAX_FRAME
from io_bridge.emulator.coe.pdo_mapping cimport copy_bits

cdef enum:
    READS = 1
    WRITES = 2

cdef struct Hit:
    int at                     # bit in the datagram's data
    int physical               # bit in memory
    int n                      # bits


cdef inline int fmmu_hit(const FmmuMap *fmmu, int direction, unsigned int logical, int n,
                         Hit *hit) noexcept nogil:
    """Find the overlap of an FMMU with the n bytes of a datagram. Return 0 when there is none."""
    cdef int64_t begin = 8 * <int64_t> logical
    cdef int64_t first = max(fmmu.first, begin)
    cdef int64_t last = min(fmmu.end, begin + 8 * n)
    if first >= last or not fmmu.direction & direction:
        return 0
    hit.at = <int> (first - begin)
    hit.physical = fmmu.physical + <int> (first - fmmu.first)
    hit.n = <int> (last - first)
    return 1


cdef int fmmu_read(Esc *esc, unsigned int logical, int n, uint8_t *data) noexcept nogil:
    """Return 1 if any input FMMU put bits into `data`."""
    cdef uint8_t memory[MAX_FRAME + 1]
    cdef const Addresses *a = &esc.addresses
    cdef Hit hit
    cdef int i, size
    cdef int done = 0
    if not a.known:
        addresses_find(esc)
    for i in range(a.n_fmmus):
        if not fmmu_hit(&a.fmmus[i], READS, logical, n, &hit):
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
    cdef const Addresses *a = &esc.addresses
    cdef Hit hit
    cdef int i, at, size
    cdef int done = 0
    if not a.known:
        addresses_find(esc)
    for i in range(a.n_fmmus):
        if not fmmu_hit(&a.fmmus[i], WRITES, logical, n, &hit):
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

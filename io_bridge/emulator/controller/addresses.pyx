"""The address map of a slave: the registers of station address, FMMUs and sync managers, decoded once and
kept until one of them is written."""
from libc.stdint cimport int64_t, uint8_t

from io_bridge.emulator.controller.memory cimport (
    ESC_MEMORY, N_FMMU, N_SM, REG_ALIAS, REG_ALIAS_USE, REG_FMMU, REG_SM, REG_STATION, Addresses, Esc,
    FmmuMap, ManagerArea, overlaps,
)
from io_bridge.wire.fields cimport get16, get32

cdef enum:
    FMMU_BYTES = 16
    SM_BYTES = 8
    LAST_VERSION = 1 << 30      # then from 1 again; 0 is nobody's


cdef void find_fmmus(Addresses *a, const uint8_t *fmmu) noexcept nogil:
    cdef FmmuMap *found
    cdef int64_t start
    cdef int _i
    a.n_fmmus = 0
    a.logical_first = 1LL << 40
    a.logical_end = 0
    for _i in range(N_FMMU):
        if fmmu[12] & 1:
            found = &a.fmmus[a.n_fmmus]
            a.n_fmmus += 1
            start = get32(fmmu)
            found.first = 8 * start + (fmmu[6] & 7)
            found.end = 8 * (start + get16(fmmu + 4) - 1) + (fmmu[7] & 7) + 1
            found.physical = 8 * get16(fmmu + 8) + (fmmu[10] & 7)
            found.direction = fmmu[11] & 3
            a.logical_first = min(a.logical_first, start)
            a.logical_end = max(a.logical_end, start + get16(fmmu + 4))
        fmmu += FMMU_BYTES


cdef void find_managers(Addresses *a, const uint8_t *sm) noexcept nogil:
    cdef ManagerArea *found
    cdef int i
    a.n_managers = 0
    a.managed_first = ESC_MEMORY
    for i in range(N_SM):
        if sm[6] & 1:
            found = &a.managers[a.n_managers]
            a.n_managers += 1
            found.index = i
            found.first = get16(sm)
            found.end = found.first + get16(sm + 2)
            a.managed_first = min(a.managed_first, found.first)
        sm += SM_BYTES


cdef void addresses_find(Esc *esc) noexcept nogil:
    """Work them out."""
    cdef Addresses *a = &esc.addresses
    a.station = get16(esc.memory + REG_STATION)
    a.alias = get16(esc.memory + REG_ALIAS) if esc.memory[REG_ALIAS_USE] & 1 else a.station
    find_fmmus(a, esc.memory + REG_FMMU)
    find_managers(a, esc.memory + REG_SM)
    a.version = a.version + 1 if a.version < LAST_VERSION else 1
    a.known = 1


cdef void addresses_written(Esc *esc, int address, int n) noexcept nogil:
    """Memory is written: forget the addresses that it may change."""
    if address >= REG_SM + SM_BYTES * N_SM:
        return
    if (overlaps(address, n, REG_STATION, 4) or overlaps(address, n, REG_ALIAS_USE, 1)
            or overlaps(address, n, REG_FMMU, FMMU_BYTES * N_FMMU)
            or overlaps(address, n, REG_SM, SM_BYTES * N_SM)):
        esc.addresses.known = 0

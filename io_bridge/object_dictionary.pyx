"""Object dictionary of an emulated device: flat table, linear search, values in one pool.

PDO assignment (0x1C12, 0x1C13) and mapping (0x16xx, 0x1Axx) are ordinary entries; `od_map` follows
them.
"""
from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy, memset

from io_bridge.esc_memory cimport AL_INVALID_INPUTS, AL_INVALID_OUTPUTS
from io_bridge.wire cimport get16, get32

cdef enum:                     # SDO abort codes (CiA 301)
    ABORT_READ_ONLY = 0x06010002
    ABORT_NOT_MAPPABLE = 0x06040041
    ABORT_SIZE = 0x06070010
    ABORT_STATE = 0x08000022


cdef void *od_add(ObjectDictionary *od, int index, int subindex, int size,
                  int access) noexcept nogil:
    """Add an entry of zero value; return where its value lives, or NULL when the table is full."""
    cdef int room = (size + 7) & ~7
    cdef Entry *entry
    if od.n_entries >= MAX_ENTRIES or od.pool_used + room > POOL_BYTES:
        return NULL
    entry = &od.entries[od.n_entries]
    entry.index = <uint16_t> index
    entry.subindex = <uint8_t> subindex
    entry.access = <uint8_t> access
    entry.size = <uint16_t> size
    entry.value = od.pool + od.pool_used
    memset(entry.value, 0, room)
    od.n_entries += 1
    od.pool_used += room
    return entry.value


cdef Entry *od_find(ObjectDictionary *od, int index, int subindex) noexcept nogil:
    cdef int i
    for i in range(od.n_entries):
        if od.entries[i].index == index and od.entries[i].subindex == subindex:
            return &od.entries[i]
    return NULL


cdef int od_has_index(const ObjectDictionary *od, int index) noexcept nogil:
    cdef int i
    for i in range(od.n_entries):
        if od.entries[i].index == index:
            return 1
    return 0


cdef int is_pdo_mapping(int index) noexcept nogil:
    return 0x1600 <= index < 0x1800 or 0x1A00 <= index < 0x1C00


cdef int mappable(ObjectDictionary *od, uint32_t mapping, int access, Mapped *out) noexcept nogil:
    """Resolve a mapping word (index, subindex, bits); index 0 is padding. Return 1 when it may be
    mapped."""
    cdef int bits = mapping & 0xFF
    cdef Entry *entry
    out.size = bits >> 3
    out.value = NULL
    if bits == 0 or bits & 7:
        return 0
    if mapping >> 16 == 0:
        return 1
    entry = od_find(od, mapping >> 16, mapping >> 8 & 0xFF)
    if entry == NULL or not entry.access & access or entry.size != out.size:
        return 0
    out.value = entry.value
    return 1


cdef uint32_t od_write(ObjectDictionary *od, Entry *entry, const uint8_t *data, int size,
                       int in_preop) noexcept nogil:
    """Write an entry as an SDO download does. Return 0 or the abort code."""
    cdef Mapped ignored
    if not entry.access & (WRITE | WRITE_PREOP):
        return ABORT_READ_ONLY
    if not entry.access & WRITE and not in_preop:
        return ABORT_STATE
    if size != entry.size:
        return ABORT_SIZE
    if is_pdo_mapping(entry.index) and entry.subindex and get32(data):
        if not mappable(od, get32(data), MAP_OUTPUT if entry.index < 0x1A00 else MAP_INPUT,
                        &ignored):
            return ABORT_NOT_MAPPABLE
    memcpy(entry.value, data, size)
    return 0


cdef int map_direction(ObjectDictionary *od, int assign, int access, Mapped *mapped,
                       int *n_mapped) noexcept nogil:
    """Follow one assignment object. Return the bytes mapped, or -1 when it does not resolve."""
    cdef Entry *count = od_find(od, assign, 0)
    cdef Entry *pdo
    cdef Entry *entry
    cdef int i, j, index
    cdef int size = 0
    n_mapped[0] = 0
    if count == NULL:
        return 0
    for i in range(1, count.value[0] + 1):
        entry = od_find(od, assign, i)
        if entry == NULL:
            return -1
        index = get16(entry.value)
        pdo = od_find(od, index, 0)
        if pdo == NULL or not is_pdo_mapping(index):
            return -1
        for j in range(1, pdo.value[0] + 1):
            entry = od_find(od, index, j)
            if entry == NULL or n_mapped[0] >= MAX_MAPPED:
                return -1
            if not mappable(od, get32(entry.value), access, &mapped[n_mapped[0]]):
                return -1
            size += mapped[n_mapped[0]].size
            n_mapped[0] += 1
    return size


cdef int od_map(ObjectDictionary *od, int *n_outputs, int *n_inputs) noexcept nogil:
    """Resolve both assignments for process data. Return 0 or the AL status code that refuses
    SAFEOP."""
    n_outputs[0] = map_direction(od, 0x1C12, MAP_OUTPUT, od.outputs, &od.n_outputs)
    if n_outputs[0] < 0:
        return AL_INVALID_OUTPUTS
    n_inputs[0] = map_direction(od, 0x1C13, MAP_INPUT, od.inputs, &od.n_inputs)
    return AL_INVALID_INPUTS if n_inputs[0] < 0 else 0


cdef void od_take_outputs(ObjectDictionary *od, const uint8_t *data, int size) noexcept nogil:
    cdef int i
    cdef int at = 0
    for i in range(od.n_outputs):
        if at + od.outputs[i].size > size:
            return
        if od.outputs[i].value != NULL:
            memcpy(od.outputs[i].value, data + at, od.outputs[i].size)
        at += od.outputs[i].size


cdef void od_give_inputs(const ObjectDictionary *od, uint8_t *data, int size) noexcept nogil:
    cdef int i
    cdef int at = 0
    for i in range(od.n_inputs):
        if at + od.inputs[i].size > size:
            return
        if od.inputs[i].value != NULL:
            memcpy(data + at, od.inputs[i].value, od.inputs[i].size)
        else:
            memset(data + at, 0, od.inputs[i].size)
        at += od.inputs[i].size

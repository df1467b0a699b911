"""Complete access: all entries of an object as one value, subindex 0 padded to 16 bits, the others
packed bit after bit (ETG.1000.6 section 5.6.2)."""
from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memset

from io_bridge.emulator.coe.abort_codes cimport (
    ABORT_NO_COMPLETE_ACCESS, ABORT_READ_ONLY, ABORT_SIZE, ABORT_TOO_HIGH,
)
from io_bridge.emulator.coe.object_dictionary cimport (
    READ, TYPE_OCTET_STRING, TYPE_VISIBLE_STRING, VARIABLE, WRITE, WRITE_PREOP, Entry, Object,
    ObjectDictionary, od_may_write, od_object, od_store,
)
from io_bridge.emulator.coe.pdo_mapping cimport copy_bits

cdef enum:
    HEAD_BITS = 16
    LARGEST_BYTES = 8          # of an entry; strings have no complete access


cdef Object *accessible(ObjectDictionary *od, int index) noexcept nogil:
    """Return the object, or NULL when it is a variable or holds strings."""
    cdef Object *o = od_object(od, index)
    cdef int i
    if o == NULL or o.code == VARIABLE or o.n_entries == 0 or od.entries[o.first].subindex:
        return NULL
    for i in range(o.first, o.first + o.n_entries):
        if od.entries[i].type in (TYPE_VISIBLE_STRING, TYPE_OCTET_STRING):
            return NULL
        if od.entries[i].size > LARGEST_BYTES:
            return NULL
    return o


cdef uint32_t object_pack(ObjectDictionary *od, int index, int first, uint8_t *data, int capacity,
                          int *size) noexcept nogil:
    """Write the entries from subindex `first` (0 or 1) to the one that subindex 0 counts. Return 0
    or the abort code."""
    cdef Object *o = accessible(od, index)
    cdef int at = 0
    cdef int i, count
    cdef Entry *entry
    if o == NULL:
        return ABORT_NO_COMPLETE_ACCESS
    count = od.entries[o.first].value[0]
    memset(data, 0, capacity)
    if first == 0:
        data[0] = <uint8_t> count
        at = HEAD_BITS
    for i in range(o.first + 1, o.first + o.n_entries):
        entry = &od.entries[i]
        if entry.subindex > count:
            break
        if at + entry.bits > 8 * capacity:
            return ABORT_SIZE
        if entry.access & READ:
            copy_bits(data, at, entry.value, 0, entry.bits)
        at += entry.bits
    size[0] = (at + 7) >> 3
    return 0


cdef uint32_t unpack_entries(ObjectDictionary *od, const Object *o, int at, int count,
                             const uint8_t *data, int size, int in_preop,
                             int storing) noexcept nogil:
    """Check the entries 1 to `count`, or store them. Return 0 or the abort code."""
    cdef uint8_t value[LARGEST_BYTES]
    cdef Entry *entry
    cdef uint32_t code
    cdef int i
    for i in range(o.first + 1, o.first + o.n_entries):
        entry = &od.entries[i]
        if entry.subindex > count:
            break
        if at + entry.bits > 8 * size:
            return ABORT_SIZE
        memset(value, 0, LARGEST_BYTES)
        copy_bits(value, 0, data, at, entry.bits)
        at += entry.bits
        if storing:
            od_store(entry, value, entry.size)
        else:
            code = od_may_write(od, entry, value, entry.size, in_preop)
            if code:
                return code
    return ABORT_SIZE if (at + 7) >> 3 != size else 0


cdef uint32_t object_unpack(ObjectDictionary *od, int index, int first, const uint8_t *data,
                            int size, int in_preop) noexcept nogil:
    """Write all entries or, when one refuses, none. Return 0 or the abort code."""
    cdef Object *o = accessible(od, index)
    cdef Entry *head
    cdef int at = 0
    cdef int count
    cdef uint8_t before
    cdef uint32_t code
    if o == NULL:
        return ABORT_NO_COMPLETE_ACCESS
    head = &od.entries[o.first]
    before = head.value[0]
    count = od.entries[o.first + o.n_entries - 1].subindex
    if first == 0:
        if size < 2:
            return ABORT_SIZE
        if data[0] > count or data[1]:
            return ABORT_TOO_HIGH
        count = data[0]
        at = HEAD_BITS
        if head.access & (WRITE | WRITE_PREOP):
            # while the others are checked it is zero, as they demand
            code = od_may_write(od, head, data, 1, in_preop)
            if code:
                return code
            head.value[0] = 0
        elif count != before:
            return ABORT_READ_ONLY
    code = unpack_entries(od, o, at, count, data, size, in_preop, 0)
    if code:
        head.value[0] = before
        return code
    unpack_entries(od, o, at, count, data, size, in_preop, 1)
    head.value[0] = <uint8_t> count if first == 0 else before
    return 0

"""Object dictionary of an emulated device: flat tables, values in one pool.

PDO assignment (0x1C12, 0x1C13) and mapping (0x16xx, 0x1Axx) are ordinary entries; `pdo_mapping`
follows them.
"""
from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from io_bridge.emulator.coe.abort_codes cimport (
    ABORT_COUNT_NOT_ZERO, ABORT_NOT_MAPPABLE, ABORT_READ_ONLY, ABORT_SIZE, ABORT_STATE,
    ABORT_TOO_HIGH,
)
from io_bridge.wire.fields cimport get32


cdef int od_make(ObjectDictionary *od, int objects, int entries, int pool_bytes,
                 int names_bytes) noexcept nogil:
    """Allocate room for this many, empty; not from the cycle. Return 0, or -1 without memory."""
    memset(od, 0, sizeof(ObjectDictionary))
    od.objects = <Object *> calloc(objects + 1, sizeof(Object))
    od.entries = <Entry *> calloc(entries + 1, sizeof(Entry))
    od.pool = <uint8_t *> calloc(pool_bytes + 1, 1)
    od.at_power_on = <uint8_t *> calloc(pool_bytes + 1, 1)
    od.names = <char *> calloc(names_bytes + 1, 1)
    if (od.objects == NULL or od.entries == NULL or od.pool == NULL or od.at_power_on == NULL
            or od.names == NULL):
        od_free(od)
        return -1
    od.most_objects = objects
    od.most_entries = entries
    od.pool_bytes = pool_bytes
    od.names_bytes = names_bytes
    return 0


cdef void od_free(ObjectDictionary *od) noexcept nogil:
    free(od.objects)
    free(od.entries)
    free(od.pool)
    free(od.at_power_on)
    free(od.names)
    memset(od, 0, sizeof(ObjectDictionary))


cdef const char *keep_name(ObjectDictionary *od, const char *name, int size) noexcept nogil:
    cdef char *at = od.names + od.names_used
    if size < 0 or size > MAX_NAME or od.names_used + size > od.names_bytes:
        return NULL
    memcpy(at, name, size)
    od.names_used += size
    return at


cdef int od_add_object(ObjectDictionary *od, int index, int code, int type, const char *name,
                       int name_size) noexcept nogil:
    """Open an object; its entries follow by `od_add`. Return 0, or -1 when the table is full or the
    index does not rise."""
    cdef Object *o
    if od.n_objects >= od.most_objects:
        return -1
    if od.n_objects and index <= od.objects[od.n_objects - 1].index:
        return -1
    o = &od.objects[od.n_objects]
    o.name = keep_name(od, name, name_size)
    if o.name == NULL:
        return -1
    o.index = <uint16_t> index
    o.type = <uint16_t> type
    o.code = <uint8_t> code
    o.n_entries = 0
    o.first = od.n_entries
    o.name_size = name_size
    od.n_objects += 1
    return 0


cdef void *od_add(ObjectDictionary *od, int subindex, int type, int bits, int access,
                  const char *name, int name_size) noexcept nogil:
    """Add an entry of zero value to the object opened last; return where its value lives, or NULL
    when a table is full or the subindex does not rise."""
    cdef int size = (bits + 7) >> 3
    cdef int room = (size + 7) & ~7
    cdef Object *o
    cdef Entry *entry
    if od.n_objects == 0 or od.n_entries >= od.most_entries or bits <= 0 or bits > 0xFFFF:
        return NULL
    if od.pool_used + room > od.pool_bytes:
        return NULL
    o = &od.objects[od.n_objects - 1]
    if o.n_entries and subindex <= od.entries[od.n_entries - 1].subindex or subindex > 254:
        return NULL
    entry = &od.entries[od.n_entries]
    entry.name = keep_name(od, name, name_size)
    if entry.name == NULL:
        return NULL
    entry.name_size = name_size
    entry.index = o.index
    entry.subindex = <uint8_t> subindex
    entry.access = <uint8_t> access
    entry.type = <uint16_t> type
    entry.bits = <uint16_t> bits
    entry.size = <uint16_t> size
    entry.length = <uint16_t> size
    entry.value = od.pool + od.pool_used
    memset(entry.value, 0, room)
    o.n_entries += 1
    od.n_entries += 1
    od.pool_used += room
    return entry.value


cdef Object *od_object(ObjectDictionary *od, int index) noexcept nogil:
    cdef int low = 0
    cdef int high = od.n_objects
    cdef int middle
    while low < high:
        middle = (low + high) >> 1
        if od.objects[middle].index < index:
            low = middle + 1
        else:
            high = middle
    if low < od.n_objects and od.objects[low].index == index:
        return &od.objects[low]
    return NULL


cdef Entry *od_find(ObjectDictionary *od, int index, int subindex) noexcept nogil:
    cdef Object *o = od_object(od, index)
    cdef int i
    if o != NULL:
        for i in range(o.first, o.first + o.n_entries):
            if od.entries[i].subindex == subindex:
                return &od.entries[i]
    return NULL


cdef int is_pdo_mapping(int index) noexcept nogil:
    return 0x1600 <= index < 0x1800 or 0x1A00 <= index < 0x1C00


cdef int is_pdo_assignment(int index) noexcept nogil:
    return 0x1C10 <= index <= 0x1C2F


cdef int mappable(ObjectDictionary *od, uint32_t mapping, int access, Mapped *out) noexcept nogil:
    """Resolve a mapping word (index, subindex, bits); index 0 is padding. Return 1 when it may be
    mapped."""
    cdef Entry *entry
    out.bits = mapping & 0xFF
    out.value = NULL
    if out.bits == 0:
        return 0
    if mapping >> 16 == 0:
        return 1
    entry = od_find(od, mapping >> 16, mapping >> 8 & 0xFF)
    if entry == NULL or not entry.access & access or entry.bits != out.bits:
        return 0
    out.value = entry.value
    return 1


cdef uint32_t configured(ObjectDictionary *od, const Entry *entry,
                         const uint8_t *data) noexcept nogil:
    """Rules of assignment and mapping: a count within the object; entries only while the count is
    zero, and of objects that may be mapped. Return 0 or the abort code."""
    cdef Object *o = od_object(od, entry.index)
    cdef Mapped ignored
    cdef int access
    if entry.subindex == 0:
        return ABORT_TOO_HIGH if data[0] >= o.n_entries else 0
    if is_pdo_mapping(entry.index) and get32(data):
        access = MAP_OUTPUT if entry.index < 0x1A00 else MAP_INPUT
        if not mappable(od, get32(data), access, &ignored):
            return ABORT_NOT_MAPPABLE
    return ABORT_COUNT_NOT_ZERO if od.entries[o.first].value[0] else 0


cdef uint32_t od_may_write(ObjectDictionary *od, const Entry *entry, const uint8_t *data, int size,
                           int in_preop) noexcept nogil:
    """Check that an SDO download may write an entry. Return 0 or the abort code."""
    if not entry.access & (WRITE | WRITE_PREOP):
        return ABORT_READ_ONLY
    if not entry.access & WRITE and not in_preop:
        return ABORT_STATE
    if entry.type == TYPE_VISIBLE_STRING or entry.type == TYPE_OCTET_STRING:
        return ABORT_SIZE if size > entry.size else 0
    if size != entry.size:
        return ABORT_SIZE
    if is_pdo_mapping(entry.index) or is_pdo_assignment(entry.index):
        return configured(od, entry, data)
    return 0


cdef void od_store(Entry *entry, const uint8_t *data, int size) noexcept nogil:
    """Write an entry that `od_may_write` has allowed."""
    memset(entry.value, 0, entry.size)
    memcpy(entry.value, data, size)
    entry.length = <uint16_t> size
    if entry.type == TYPE_BOOLEAN:
        entry.value[0] &= 1


cdef void od_keep(ObjectDictionary *od) noexcept nogil:
    """Take the present values for those after power-up."""
    memcpy(od.at_power_on, od.pool, od.pool_used)


cdef void od_restore(ObjectDictionary *od) noexcept nogil:
    """Values as after power-up."""
    cdef int i
    memcpy(od.pool, od.at_power_on, od.pool_used)
    for i in range(od.n_entries):
        od.entries[i].length = od.entries[i].size
    od.n_outputs = 0
    od.n_inputs = 0

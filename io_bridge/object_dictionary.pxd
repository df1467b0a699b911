"""The objects of a CoE device: typed values by index and subindex, and the process data mapped from
them."""
from libc.stdint cimport uint8_t, uint16_t, uint32_t

cdef enum:
    MAX_ENTRIES = 128
    POOL_BYTES = 2048
    MAX_MAPPED = 32

cdef enum:                     # access of an entry
    READ = 1
    WRITE = 2
    WRITE_PREOP = 4            # writable in PREOP only: PDO assignment and mapping
    MAP_OUTPUT = 8             # may be mapped into a master-to-slave PDO
    MAP_INPUT = 16

cdef struct Entry:
    uint16_t index
    uint8_t subindex
    uint8_t access
    uint16_t size              # bytes
    uint8_t *value             # in the pool

cdef struct Mapped:
    uint8_t *value             # NULL: padding
    int size

cdef struct ObjectDictionary:
    Entry entries[MAX_ENTRIES]
    int n_entries
    uint8_t pool[POOL_BYTES]   # every value starts at a multiple of eight
    int pool_used
    Mapped outputs[MAX_MAPPED]
    int n_outputs
    Mapped inputs[MAX_MAPPED]
    int n_inputs

cdef void *od_add(ObjectDictionary *od, int index, int subindex, int size,
                  int access) noexcept nogil
cdef Entry *od_find(ObjectDictionary *od, int index, int subindex) noexcept nogil
cdef int od_has_index(const ObjectDictionary *od, int index) noexcept nogil
cdef uint32_t od_write(ObjectDictionary *od, Entry *entry, const uint8_t *data, int size,
                       int in_preop) noexcept nogil
cdef int od_map(ObjectDictionary *od, int *n_outputs, int *n_inputs) noexcept nogil
cdef void od_take_outputs(ObjectDictionary *od, const uint8_t *data, int size) noexcept nogil
cdef void od_give_inputs(const ObjectDictionary *od, uint8_t *data, int size) noexcept nogil

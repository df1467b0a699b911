"""The objects of a CoE device: typed values by index and subindex, and the process data mapped from
them."""
from libc.stdint cimport uint8_t, uint16_t, uint32_t

cdef enum:
    MAX_MAPPED = 256
    MAX_NAME = 64

cdef enum:                     # access of an entry
    READ = 1
    WRITE = 2
    WRITE_PREOP = 4            # writable in PREOP only: PDO assignment and mapping
    MAP_OUTPUT = 8             # may be mapped into a master-to-slave PDO
    MAP_INPUT = 16

cdef enum:                     # object codes
    VARIABLE = 7
    ARRAY = 8
    RECORD = 9

cdef enum:                     # data types that are not plain numbers (ETG.1000.6, table 64)
    TYPE_BOOLEAN = 0x0001
    TYPE_VISIBLE_STRING = 0x0009
    TYPE_OCTET_STRING = 0x000A

cdef struct Object:
    uint16_t index
    uint16_t type              # of a variable, or of an array's elements
    uint8_t code
    uint8_t n_entries
    int first                  # its entries are neighbours in the table, by rising subindex
    const char *name
    int name_size

cdef struct Entry:
    uint16_t index
    uint8_t subindex
    uint8_t access
    uint16_t type
    uint16_t bits              # as mapped or packed; a boolean has one
    uint16_t size              # bytes
    uint16_t length            # bytes in use: `size`, except for strings
    uint8_t *value             # in the pool
    const char *name
    int name_size

cdef struct Mapped:
    uint8_t *value             # NULL: padding
    int bits
    int whole                  # bytes, when they are whole bytes on a byte; else 0

cdef struct ObjectDictionary:
    Object *objects               # by rising index
    int n_objects
    int most_objects
    Entry *entries
    int n_entries
    int most_entries
    uint8_t *pool                 # every value starts at a multiple of eight
    uint8_t *at_power_on
    int pool_used
    int pool_bytes
    char *names
    int names_used
    int names_bytes
    Mapped outputs[MAX_MAPPED]
    int n_outputs
    Mapped inputs[MAX_MAPPED]
    int n_inputs

cdef int od_make(ObjectDictionary *od, int objects, int entries, int pool_bytes,
                 int names_bytes) noexcept nogil
cdef void od_free(ObjectDictionary *od) noexcept nogil
cdef int od_add_object(ObjectDictionary *od, int index, int code, int type, const char *name,
                       int name_size) noexcept nogil
cdef void *od_add(ObjectDictionary *od, int subindex, int type, int bits, int access,
                  const char *name, int name_size) noexcept nogil
cdef Object *od_object(ObjectDictionary *od, int index) noexcept nogil
cdef Entry *od_find(ObjectDictionary *od, int index, int subindex) noexcept nogil
cdef int mappable(ObjectDictionary *od, uint32_t mapping, int access, Mapped *out) noexcept nogil
cdef uint32_t od_may_write(ObjectDictionary *od, const Entry *entry, const uint8_t *data, int size,
                           int in_preop) noexcept nogil
cdef void od_store(Entry *entry, const uint8_t *data, int size) noexcept nogil
cdef void od_keep(ObjectDictionary *od) noexcept nogil
cdef void od_restore(ObjectDictionary *od) noexcept nogil
cdef int is_pdo_mapping(int index) noexcept nogil
cdef int is_pdo_assignment(int index) noexcept nogil

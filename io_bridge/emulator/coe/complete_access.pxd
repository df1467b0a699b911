from libc.stdint cimport uint8_t, uint32_t

from io_bridge.emulator.coe.object_dictionary cimport ObjectDictionary

cdef uint32_t object_pack(ObjectDictionary *od, int index, int first, uint8_t *data, int capacity,
                          int *size) noexcept nogil
cdef uint32_t object_unpack(ObjectDictionary *od, int index, int first, const uint8_t *data,
                            int size, int in_preop) noexcept nogil

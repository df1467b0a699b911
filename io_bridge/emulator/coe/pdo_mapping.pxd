from libc.stdint cimport uint8_t

from io_bridge.emulator.coe.object_dictionary cimport ObjectDictionary

cdef int map_pdos(ObjectDictionary *od, int *n_outputs, int *n_inputs) noexcept nogil
cdef void take_outputs(ObjectDictionary *od, const uint8_t *data, int size) noexcept nogil
cdef void copy_bits(uint8_t *to, int to_bit, const uint8_t *source, int source_bit,
                    int n) noexcept nogil
cdef void give_inputs(const ObjectDictionary *od, uint8_t *data, int size) noexcept nogil

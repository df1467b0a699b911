from libc.stdint cimport uint8_t

cdef int clock_datagram(const uint8_t *frame, int length) noexcept nogil
cdef int clock_was_read(const uint8_t *frame, int clock_at) noexcept nogil
cdef int answers_in(const uint8_t *frame, int length, int clock_at, int *stations) noexcept nogil
cdef int same_chain(const uint8_t *one, const uint8_t *other, int length,
                    int clock_at) noexcept nogil
cdef int merge_half(uint8_t *into, const uint8_t *half, int length, int clock_at) noexcept nogil

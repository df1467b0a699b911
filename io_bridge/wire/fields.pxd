"""Little-endian fields at any alignment. Callers check bounds; the host is little-endian (checked
in frame.pyx)."""
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy


cdef inline uint16_t get16(const uint8_t *at) noexcept nogil:
    cdef uint16_t value
    memcpy(&value, at, 2)
    return value


cdef inline uint32_t get32(const uint8_t *at) noexcept nogil:
    cdef uint32_t value
    memcpy(&value, at, 4)
    return value


cdef inline uint64_t get64(const uint8_t *at) noexcept nogil:
    cdef uint64_t value
    memcpy(&value, at, 8)
    return value


cdef inline void put16(uint8_t *at, uint16_t value) noexcept nogil:
    memcpy(at, &value, 2)


cdef inline void put32(uint8_t *at, uint32_t value) noexcept nogil:
    memcpy(at, &value, 4)


cdef inline void put64(uint8_t *at, uint64_t value) noexcept nogil:
    memcpy(at, &value, 8)


cdef inline void copy_few(uint8_t *to, const uint8_t *source, int n) noexcept nogil:
    """memcpy, without a call for the 4 to 32 bytes that most datagrams have: two halves that may overlap."""
    if 16 <= n <= 32:
        memcpy(to, source, 16)
        memcpy(to + n - 16, source + n - 16, 16)
    elif 8 <= n < 16:
        memcpy(to, source, 8)
        memcpy(to + n - 8, source + n - 8, 8)
    elif 4 <= n < 8:
        memcpy(to, source, 4)
        memcpy(to + n - 4, source + n - 4, 4)
    else:
        memcpy(to, source, n)

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

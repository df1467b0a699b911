from libc.stdint cimport uint8_t

from io_bridge.emulator.controller.memory cimport Esc

cdef int fmmu_read(Esc *esc, unsigned int logical, int n, uint8_t *data) noexcept nogil
cdef int fmmu_write(Esc *esc, unsigned int logical, int n, const uint8_t *data) noexcept nogil

from libc.stdint cimport int64_t, uint8_t

from io_bridge.emulator.controller.memory cimport Esc

cdef void esc_power_on(Esc *esc) noexcept nogil
cdef void esc_advance(Esc *esc, int64_t t_ns) noexcept nogil
cdef void esc_sample(Esc *esc) noexcept nogil
cdef int esc_read(Esc *esc, int address, int n, uint8_t *out) noexcept nogil
cdef int esc_write(Esc *esc, int address, int n, const uint8_t *data) noexcept nogil
cdef void esc_serve(Esc *esc) noexcept nogil
cdef int64_t watchdog_ns(const Esc *esc) noexcept nogil

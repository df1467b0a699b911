from libc.stdint cimport int64_t, uint64_t

from io_bridge.emulator.controller.memory cimport Esc

cdef void clock_power_on(Esc *esc) noexcept nogil
cdef void clock_set_drift(Esc *esc, double drift) noexcept nogil
cdef int64_t clock_local_ns(const Esc *esc, int64_t t_ns) noexcept nogil
cdef uint64_t clock_system_ns(const Esc *esc) noexcept nogil
cdef void clock_latch(Esc *esc) noexcept nogil
cdef void clock_steer(Esc *esc, uint64_t reference_ns) noexcept nogil
cdef void clock_loop_reset(Esc *esc) noexcept nogil
cdef void sync_activated(Esc *esc) noexcept nogil

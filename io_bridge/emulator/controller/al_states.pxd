from io_bridge.emulator.controller.memory cimport Esc

cdef int al_state(const Esc *esc) noexcept nogil
cdef void al_request(Esc *esc) noexcept nogil
cdef void al_decide(Esc *esc, int wanted, int verdict) noexcept nogil
cdef void al_outputs_arrived(Esc *esc) noexcept nogil
cdef void al_watchdog_expired(Esc *esc) noexcept nogil

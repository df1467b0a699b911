from io_bridge.emulator.controller.memory cimport Esc

cdef void addresses_find(Esc *esc) noexcept nogil
cdef void addresses_written(Esc *esc, int address, int n) noexcept nogil

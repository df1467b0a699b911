from libc.stdint cimport uint8_t

from io_bridge.emulator.coe.message cimport CoeServer

cdef int sdo_answer(CoeServer *coe, const uint8_t *request, int payload, uint8_t *reply,
                    int capacity, int al_state) noexcept nogil

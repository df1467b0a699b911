from libc.stdint cimport uint8_t

from io_bridge.emulator.coe.message cimport CoeServer

cdef int coe_answer(CoeServer *coe, const uint8_t *request, int n, uint8_t *reply, int capacity,
                    int al_state, int *more) noexcept nogil
cdef void coe_reset(CoeServer *coe) noexcept nogil

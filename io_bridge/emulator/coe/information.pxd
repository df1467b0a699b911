from libc.stdint cimport uint8_t

from io_bridge.emulator.coe.message cimport CoeServer

cdef int info_answer(CoeServer *coe, const uint8_t *request, int payload, uint8_t *reply,
                     int capacity, int *more) noexcept nogil
cdef int info_continue(CoeServer *coe, uint8_t *reply, int capacity, int *more) noexcept nogil

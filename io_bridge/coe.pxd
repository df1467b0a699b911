from libc.stdint cimport uint8_t

from io_bridge.object_dictionary cimport ObjectDictionary

cdef struct CoeServer:
    ObjectDictionary od
    uint8_t counter            # of the mailbox header, 1 to 7
    const uint8_t *segment     # rest of a segmented upload; NULL when none is open
    int segment_left
    uint8_t toggle             # expected of the next segment request

cdef int coe_answer(CoeServer *coe, const uint8_t *request, int n, uint8_t *reply, int capacity,
                    int al_state) noexcept nogil

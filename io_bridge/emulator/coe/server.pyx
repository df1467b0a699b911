"""CoE server of an emulated device: mailbox requests to the SDO server and its information service
(CANopen over EtherCAT, ETG.1000.6 section 5.6). Other protocols get a mailbox error."""
from libc.stdint cimport uint8_t

from io_bridge.emulator.coe.information cimport info_answer, info_continue
from io_bridge.emulator.coe.message cimport (
    IDLE, MAILBOX_HEADER, SDO, SDO_DATA, SERVICE_INFO, SERVICE_REQUEST, TYPE_COE, TYPE_ERROR,
    CoeServer, finish,
)
from io_bridge.emulator.coe.sdo cimport sdo_answer
from io_bridge.wire.fields cimport get16, put16

cdef enum:                     # mailbox error codes (ETG.1000.4, table 31)
    UNSUPPORTED_PROTOCOL = 2
    SERVICE_NOT_SUPPORTED = 4
    INVALID_SIZE = 8


cdef int mailbox_error(CoeServer *coe, uint8_t *reply, int code) noexcept nogil:
    put16(reply + MAILBOX_HEADER, 1)
    put16(reply + MAILBOX_HEADER + 2, <unsigned short> code)
    return finish(coe, reply, TYPE_ERROR, 0, 4)


cdef int coe_answer(CoeServer *coe, const uint8_t *request, int n, uint8_t *reply, int capacity,
                    int al_state, int *more) noexcept nogil:
    """Answer one mailbox request of n bytes, or with n = 0 send the rest of the reply under way.

    Return the reply's length (capacity is at least 16), 0 for none; `more` is set when another reply
    is ready without a request.
    """
    cdef int payload, service
    more[0] = 0
    if n == 0:
        return info_continue(coe, reply, capacity, more)
    coe.list_left = 0
    if n < SDO_DATA + 4:
        return mailbox_error(coe, reply, INVALID_SIZE)
    payload = get16(request)
    if MAILBOX_HEADER + payload > n:
        return mailbox_error(coe, reply, INVALID_SIZE)
    if request[5] & 0x0F != TYPE_COE:
        return mailbox_error(coe, reply, UNSUPPORTED_PROTOCOL)
    if payload < SDO + 4 - MAILBOX_HEADER:
        return mailbox_error(coe, reply, INVALID_SIZE)
    service = get16(request + MAILBOX_HEADER) >> 12
    if service == SERVICE_INFO:
        return info_answer(coe, request, payload, reply, capacity, more)
    if service != SERVICE_REQUEST:
        return mailbox_error(coe, reply, SERVICE_NOT_SUPPORTED)
    return sdo_answer(coe, request, payload, reply, capacity, al_state)


cdef void coe_reset(CoeServer *coe) noexcept nogil:
    """Forget transfers that are under way."""
    coe.transfer = IDLE
    coe.list_left = 0

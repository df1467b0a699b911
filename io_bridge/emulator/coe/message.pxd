"""Common ground of the parts of the CoE server: its state, and the outer form of a mailbox message
(ETG.1000.6 section 5.6)."""
from libc.stdint cimport uint8_t, uint16_t, uint32_t

from io_bridge.emulator.coe.object_dictionary cimport ObjectDictionary
from io_bridge.wire.fields cimport put16, put32

cdef enum:
    MAILBOX_HEADER = 6
    TYPE_ERROR = 0
    TYPE_COE = 3
    SERVICE_REQUEST = 2
    SERVICE_RESPONSE = 3
    SERVICE_INFO = 8
    SDO = MAILBOX_HEADER + 2       # offset of the SDO command byte, or of the information header
    SDO_DATA = SDO + 4
    COMPLETE_ACCESS = 0x10
    TRANSFER_BYTES = 2048

cdef enum Transfer:
    IDLE = 0
    UPLOAD = 1
    DOWNLOAD = 2

cdef struct CoeServer:
    ObjectDictionary od
    uint8_t counter                # of the mailbox header, 1 to 7
    # a transfer in segments
    Transfer transfer
    uint8_t data[TRANSFER_BYTES]
    int size                       # bytes in all
    int done                       # bytes sent or received
    uint8_t toggle                 # expected of the next segment
    uint16_t index
    uint8_t subindex
    int complete
    # a list of indices in fragments
    uint16_t list_type
    int list_at                    # next object to look at
    int list_left                  # indices still to send; 0 = no list under way


cdef inline int finish(CoeServer *coe, uint8_t *reply, int kind, int service,
                       int size) noexcept nogil:
    """Write the mailbox header for `size` bytes of payload. Return the whole length."""
    coe.counter = <uint8_t> (coe.counter % 7 + 1)
    put16(reply, <uint16_t> size)
    put16(reply + 2, 0)
    reply[4] = 0
    reply[5] = <uint8_t> (coe.counter << 4 | kind)
    if kind == TYPE_COE:
        put16(reply + MAILBOX_HEADER, <uint16_t> (service << 12))
    return MAILBOX_HEADER + size


cdef inline int abort_transfer(CoeServer *coe, int index, int subindex, uint8_t *reply,
                               uint32_t code) noexcept nogil:
    coe.transfer = IDLE
    reply[SDO] = 0x80
    put16(reply + SDO + 1, <uint16_t> index)
    reply[SDO + 3] = <uint8_t> subindex
    put32(reply + SDO_DATA, code)
    return finish(coe, reply, TYPE_COE, SERVICE_REQUEST, 10)

"""An object that is uploaded in segments without end."""
from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memset

from io_bridge.emulator.coe.message cimport (
    MAILBOX_HEADER, SDO, SDO_DATA, SERVICE_REQUEST, SERVICE_RESPONSE, TYPE_COE,
)
from io_bridge.emulator.quirks.mailbox.mailbox_layer cimport MailboxLayer, MailboxQuirk, is_initiate
from io_bridge.wire.fields cimport get16, put16, put32

from io_bridge.emulator.quirks.option import Option

cdef enum:
    UPLOAD = 2                 # command specifiers
    UPLOAD_SEGMENT = 3


cdef struct Endless:
    MailboxLayer mailbox
    int index
    uint32_t announced
    int under_way


cdef int begin(const uint8_t *request, uint8_t *reply, int payload) noexcept nogil:
    put16(reply, <unsigned short> payload)
    put16(reply + 2, 0)
    reply[4] = 0
    reply[5] = <uint8_t> (request[5] & 0x70 | TYPE_COE)
    put16(reply + MAILBOX_HEADER, SERVICE_RESPONSE << 12)
    return MAILBOX_HEADER + payload


cdef int answer(MailboxLayer *m, const uint8_t *request, int n, uint8_t *reply, int capacity) noexcept nogil:
    cdef Endless *e = <Endless *> m
    cdef int toggle
    cdef int kind = is_initiate(request, n)
    if kind:
        e.under_way = kind == UPLOAD and get16(request + SDO + 1) == e.index
        if not e.under_way:
            return -1
        memset(reply, 0, capacity)
        reply[SDO] = 0x41
        put16(reply + SDO + 1, <unsigned short> e.index)
        reply[SDO + 3] = request[SDO + 3]
        put32(reply + SDO_DATA, e.announced)
        return begin(request, reply, capacity - MAILBOX_HEADER)
    if not e.under_way or n < SDO + 4 or request[5] & 0x0F != TYPE_COE:
        return -1
    if get16(request + MAILBOX_HEADER) >> 12 != SERVICE_REQUEST or request[SDO] >> 5 != UPLOAD_SEGMENT:
        return -1
    toggle = request[SDO] & 0x10
    memset(reply, 0x55, capacity)
    reply[SDO] = <uint8_t> toggle
    return begin(request, reply, capacity - MAILBOX_HEADER)


cdef class EndlessObject(MailboxQuirk):
    """One object announces up to 4 GB and is sent in segments of which none is the last."""

    cdef Endless endless

    OPTIONS = {
        "index": Option(0x1008, "of the object", 1, 0xFFFF),
        "bytes": Option(0x80000000, "announced size"),
    }

    def __init__(self, *, index: int, **more: int) -> None:
        self.endless.index = index
        self.endless.announced = more["bytes"]
        self.endless.mailbox.answer = answer
        self.watch(&self.endless.mailbox)

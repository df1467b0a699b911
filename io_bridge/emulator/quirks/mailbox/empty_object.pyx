"""An object without a single byte."""
from libc.stdint cimport uint8_t
from libc.string cimport memset

from io_bridge.emulator.coe.message cimport (
    MAILBOX_HEADER, SDO, SDO_DATA, SERVICE_RESPONSE, TYPE_COE,
)
from io_bridge.emulator.quirks.mailbox.mailbox_layer cimport MailboxLayer, MailboxQuirk, is_initiate
from io_bridge.wire.fields cimport get16, put16

from io_bridge.emulator.quirks.option import Option

cdef enum:
    UPLOAD = 2


cdef struct Empty:
    MailboxLayer mailbox
    int index


cdef int answer(MailboxLayer *m, const uint8_t *request, int n, uint8_t *reply, int capacity) noexcept nogil:
    cdef int index = (<Empty *> m).index
    if is_initiate(request, n) != UPLOAD or get16(request + SDO + 1) != index:
        return -1
    memset(reply, 0, SDO_DATA + 4)
    put16(reply, 10)
    reply[5] = <uint8_t> (request[5] & 0x70 | TYPE_COE)
    put16(reply + MAILBOX_HEADER, SERVICE_RESPONSE << 12)
    reply[SDO] = 0x41
    put16(reply + SDO + 1, <unsigned short> index)
    reply[SDO + 3] = request[SDO + 3]
    return SDO_DATA + 4


cdef class EmptyObject(MailboxQuirk):
    """The upload of one object succeeds with zero bytes, as of a name that was never set."""

    cdef Empty empty

    OPTIONS = {"index": Option(0x1008, "of the object", 1, 0xFFFF)}

    def __init__(self, *, index: int) -> None:
        self.empty.index = index
        self.empty.mailbox.answer = answer
        self.watch(&self.empty.mailbox)

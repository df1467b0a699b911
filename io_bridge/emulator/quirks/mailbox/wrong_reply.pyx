"""An SDO server whose replies are not to what was asked."""
from libc.stdint cimport uint8_t
from libc.string cimport memcpy

from io_bridge.emulator.coe.message cimport MAILBOX_HEADER, SDO
from io_bridge.emulator.controller.memory cimport MAILBOX_BYTES
from io_bridge.emulator.quirks.mailbox.mailbox_layer cimport MailboxLayer, MailboxQuirk, is_sdo_reply, post
from io_bridge.wire.fields cimport get16, put16

from io_bridge.emulator.quirks.option import Option

FIELDS = ("counter", "index", "subindex", "service", "command", "toggle")

cdef enum:
    COUNTER = 0
    INDEX = 1
    SUBINDEX = 2
    SERVICE = 3
    COMMAND = 4
    TOGGLE = 5
    TX_PDO = 4                 # CoE service


cdef struct Wrong:
    MailboxLayer mailbox
    int field
    int index                  # of the replies that are wrong; 0 = of any
    int then_right


cdef int is_segment(const uint8_t *message) noexcept nogil:
    """Return whether the message answers a segment; such an answer has no index."""
    return message[SDO] >> 5 == 0 or message[SDO] >> 5 == 1


cdef int spoil(const Wrong *w, uint8_t *message) noexcept nogil:
    """Change the field; return 0 where the message has none such."""
    if w.field == COUNTER:
        message[5] = <uint8_t> (message[5] & 0x0F | (((message[5] >> 4 & 7) + 2) % 7 + 1) << 4)
    elif w.field == TOGGLE:
        if not is_segment(message):
            return 0
        message[SDO] ^= 0x10
    elif w.field == SERVICE:
        put16(message + MAILBOX_HEADER, TX_PDO << 12)
    elif is_segment(message):
        return 0
    elif w.field == INDEX:
        put16(message + SDO + 1, get16(message + SDO + 1) ^ 0x0100)
    elif w.field == SUBINDEX:
        message[SDO + 3] ^= 0x40
    else:
        # an upload is confirmed as a download and the other way round
        message[SDO] ^= 0x20
    return 1


cdef void leaving(MailboxLayer *m, uint8_t *message, int size) noexcept nogil:
    cdef Wrong *w = <Wrong *> m
    cdef uint8_t wrong[MAILBOX_BYTES]
    if not is_sdo_reply(message, size) or w.index and get16(message + SDO + 1) != w.index:
        post(m, message, size, 0)
        return
    memcpy(wrong, message, size)
    if spoil(w, wrong):
        post(m, wrong, size, 0)
        if w.then_right:
            post(m, message, size, 0)
    else:
        post(m, message, size, 0)


cdef class WrongReply(MailboxQuirk):
    """SDO replies have a wrong counter, index, subindex, service, command or toggle bit; the right one may follow."""

    cdef Wrong wrong

    OPTIONS = {
        "field": Option("index", "what is wrong", choices=FIELDS),
        "then_right": Option(True, "the right reply follows"),
        "index": Option(0, "of this object only; 0 = of all", 0, 0xFFFF),
    }

    def __init__(self, *, field: str, then_right: bool, index: int) -> None:
        self.wrong.field = FIELDS.index(field)
        self.wrong.then_right = then_right
        self.wrong.index = index
        self.wrong.mailbox.leaving = leaving
        self.watch(&self.wrong.mailbox)

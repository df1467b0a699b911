"""A slave that has no complete access, though its EEPROM may say so."""
from libc.stdint cimport uint8_t

from io_bridge.emulator.coe.message cimport COMPLETE_ACCESS, MAILBOX_HEADER, SDO, TYPE_ERROR
from io_bridge.emulator.devices.described_device cimport DescribedDevice
from io_bridge.emulator.quirks.mailbox.mailbox_layer cimport MailboxLayer, MailboxQuirk, is_initiate, write_abort
from io_bridge.wire.fields cimport put16

from io_bridge.emulator.quirks.eeprom.eeprom import COMPLETE_ACCESS_BIT, with_coe_details
from io_bridge.emulator.quirks.option import Option

ANSWERS = ("abort", "mailbox_error", "entry", "silence")

cdef enum:
    ABORT = 0
    MAILBOX_ERROR = 1
    ENTRY = 2
    SERVICE_NOT_SUPPORTED = 4  # mailbox error


cdef struct Partial:
    MailboxLayer mailbox
    int kind
    int code


cdef int answer(MailboxLayer *m, const uint8_t *request, int n, uint8_t *reply, int capacity) noexcept nogil:
    cdef Partial *p = <Partial *> m
    if not is_initiate(request, n) or not request[SDO] & COMPLETE_ACCESS:
        return -1
    if p.kind == ABORT:
        return write_abort(request, reply, p.code)
    if p.kind == MAILBOX_ERROR:
        put16(reply, 4)
        put16(reply + 2, 0)
        reply[4] = 0
        reply[5] = <uint8_t> (request[5] & 0x70 | TYPE_ERROR)
        put16(reply + MAILBOX_HEADER, 1)
        put16(reply + MAILBOX_HEADER + 2, SERVICE_NOT_SUPPORTED)
        return MAILBOX_HEADER + 4
    if p.kind == ENTRY:
        # the bit is not known to it: it answers as if one entry had been asked for
        (<uint8_t *> request)[SDO] &= 0xFF ^ COMPLETE_ACCESS
        return -1
    return 0


cdef class NoCompleteAccess(MailboxQuirk):
    """Complete access is refused, ignored, or answered with the one entry; the EEPROM says so, or claims it."""

    cdef Partial partial
    cdef int claimed

    OPTIONS = {
        "answer": Option("abort", "what comes instead", choices=ANSWERS),
        "code": Option(0x06010000, "abort code"),
        "claimed": Option(False, "the EEPROM says that there is complete access"),
    }

    def __init__(self, *, answer: str, code: int, claimed: bool) -> None:
        self._set(ANSWERS.index(answer), code)
        self.claimed = claimed

    cdef void _set(self, int kind, unsigned int code):
        self.partial.kind = kind
        self.partial.code = <int> code
        self.partial.mailbox.answer = answer
        self.watch(&self.partial.mailbox)

    def attach(self, DescribedDevice device not None) -> None:
        MailboxQuirk.attach(self, device)
        device.eeprom = with_coe_details(device.eeprom, COMPLETE_ACCESS_BIT, self.claimed)

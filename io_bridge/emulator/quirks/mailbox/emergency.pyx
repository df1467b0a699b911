"""Emergency messages of CoE (ETG.1000.6 section 5.6.4), which come unasked."""
from libc.stdint cimport uint8_t
from libc.string cimport memset

from io_bridge.emulator.coe.message cimport MAILBOX_HEADER, SDO, TYPE_COE
from io_bridge.emulator.quirks.mailbox.mailbox_layer cimport MailboxLayer, MailboxQuirk, post, post_unasked
from io_bridge.wire.fields cimport put16

from io_bridge.emulator.quirks.option import Option

WHEN = ("reply", "preop", "safeop", "op")

cdef enum:
    SERVICE_EMERGENCY = 1
    EMERGENCY_BYTES = SDO + 8


cdef struct Alarm:
    MailboxLayer mailbox
    int state                  # at which it comes; 0 = before each reply
    int code
    int register_bits
    int counter


cdef void write_alarm(Alarm *a, uint8_t *message) noexcept nogil:
    memset(message, 0, EMERGENCY_BYTES)
    a.counter = a.counter % 7 + 1
    put16(message, EMERGENCY_BYTES - MAILBOX_HEADER)
    message[5] = <uint8_t> (a.counter << 4 | TYPE_COE)
    put16(message + MAILBOX_HEADER, SERVICE_EMERGENCY << 12)
    put16(message + SDO, <unsigned short> a.code)
    message[SDO + 2] = <uint8_t> a.register_bits


cdef void leaving(MailboxLayer *m, uint8_t *message, int size) noexcept nogil:
    cdef Alarm *a = <Alarm *> m
    cdef uint8_t alarm[EMERGENCY_BYTES]
    if a.state == 0:
        write_alarm(a, alarm)
        post(m, alarm, EMERGENCY_BYTES, 0)
    post(m, message, size, 0)


cdef void changed(MailboxLayer *m, int state) noexcept nogil:
    cdef Alarm *a = <Alarm *> m
    cdef uint8_t alarm[EMERGENCY_BYTES]
    if state == a.state:
        write_alarm(a, alarm)
        post_unasked(m, alarm, EMERGENCY_BYTES)


cdef class Emergency(MailboxQuirk):
    """An emergency message before each mailbox reply, or once when PREOP, SAFEOP or OP is reached."""

    cdef Alarm alarm

    OPTIONS = {
        "at": Option("reply", "when it comes", choices=WHEN),
        "code": Option(0x8110, "error code", 0, 0xFFFF),
        "register": Option(0x11, "error register", 0, 0xFF),
    }

    def __init__(self, *, at: str, code: int, **more: int) -> None:
        self.alarm.state = (0, 2, 4, 8)[WHEN.index(at)]
        self.alarm.code = code
        self.alarm.register_bits = more["register"]
        self.alarm.mailbox.leaving = leaving
        self.alarm.mailbox.changed = changed
        self.watch(&self.alarm.mailbox)

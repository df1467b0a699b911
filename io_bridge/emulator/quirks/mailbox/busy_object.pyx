"""Objects that cannot be written yet."""
from libc.stdint cimport uint8_t

from io_bridge.emulator.coe.message cimport SDO
from io_bridge.emulator.quirks.mailbox.mailbox_layer cimport MailboxLayer, MailboxQuirk, is_initiate, write_abort
from io_bridge.wire.fields cimport get16

from io_bridge.emulator.quirks.option import Option

cdef enum:
    DOWNLOAD = 1
    AL_PREOP = 2


cdef struct Busy:
    MailboxLayer mailbox
    int index
    int code
    int times
    int left


cdef int answer(MailboxLayer *m, const uint8_t *request, int n, uint8_t *reply, int capacity) noexcept nogil:
    cdef Busy *b = <Busy *> m
    if is_initiate(request, n) != DOWNLOAD or b.left == 0:
        return -1
    if b.index and get16(request + SDO + 1) != b.index:
        return -1
    b.left -= 1
    return write_abort(request, reply, b.code)


cdef void changed(MailboxLayer *m, int state) noexcept nogil:
    cdef Busy *b = <Busy *> m
    if state == AL_PREOP:
        b.left = b.times


cdef class BusyObject(MailboxQuirk):
    """The first downloads after PREOP is reached are aborted: the device is busy."""

    cdef Busy busy

    OPTIONS = {
        "times": Option(1, "so many downloads", 1, 1_000_000_000),
        "code": Option(0x08000022, "abort code"),
        "index": Option(0, "of this object only; 0 = of all", 0, 0xFFFF),
    }

    def __init__(self, *, times: int, code: int, index: int) -> None:
        cdef unsigned int abort_code = code
        self.busy.times = times
        self.busy.code = <int> abort_code
        self.busy.index = index
        self.busy.mailbox.answer = answer
        self.busy.mailbox.changed = changed
        self.watch(&self.busy.mailbox)

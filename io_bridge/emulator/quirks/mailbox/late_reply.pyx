"""A mailbox whose answers take their time."""
from libc.stdint cimport int64_t, uint8_t

from io_bridge.emulator.quirks.mailbox.mailbox_layer cimport MailboxLayer, MailboxQuirk, post

from io_bridge.emulator.quirks.option import Option


cdef struct Late:
    MailboxLayer mailbox
    int64_t delay_ns


cdef void leaving(MailboxLayer *m, uint8_t *message, int size) noexcept nogil:
    post(m, message, size, m.layer.esc.now_ns + (<Late *> m).delay_ns)


cdef class LateReply(MailboxQuirk):
    """Every mailbox reply comes after a number of milliseconds; meanwhile no request is taken."""

    cdef Late late

    OPTIONS = {"ms": Option(30.0, "delay of each reply", 0.0, 60_000.0)}

    def __init__(self, *, ms: float) -> None:
        self.late.delay_ns = <int64_t> (1e6 * ms)
        self.late.mailbox.leaving = leaving
        self.watch(&self.late.mailbox)

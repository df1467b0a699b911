"""A mailbox that says everything twice."""
from libc.stdint cimport uint8_t

from io_bridge.emulator.quirks.mailbox.mailbox_layer cimport MailboxLayer, MailboxQuirk, post


cdef void leaving(MailboxLayer *m, uint8_t *message, int size) noexcept nogil:
    post(m, message, size, 0)
    post(m, message, size, 0)


cdef class DuplicateReply(MailboxQuirk):
    """Every mailbox reply comes twice, with the same counter: the second one is there when the next request is."""

    cdef MailboxLayer mailbox

    OPTIONS = {}

    def __init__(self) -> None:
        self.mailbox.leaving = leaving
        self.watch(&self.mailbox)

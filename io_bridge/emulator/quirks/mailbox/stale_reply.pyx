"""A mailbox with a reply in it that was meant for a request before."""
from libc.stdint cimport uint8_t
from libc.string cimport memcpy

from io_bridge.emulator.controller.memory cimport MAILBOX_BYTES
from io_bridge.emulator.quirks.mailbox.mailbox_layer cimport MailboxLayer, MailboxQuirk, post


cdef struct Stale:
    MailboxLayer mailbox
    int size
    uint8_t last[MAILBOX_BYTES]


cdef void leaving(MailboxLayer *m, uint8_t *message, int size) noexcept nogil:
    cdef Stale *s = <Stale *> m
    post(m, s.last, s.size, 0)
    post(m, message, size, 0)
    s.size = size
    memcpy(s.last, message, size)


cdef class StaleReply(MailboxQuirk):
    """Before each mailbox reply comes the one to the request before: another index, another counter."""

    cdef Stale stale

    OPTIONS = {}

    def __init__(self) -> None:
        self.stale.mailbox.leaving = leaving
        self.watch(&self.stale.mailbox)

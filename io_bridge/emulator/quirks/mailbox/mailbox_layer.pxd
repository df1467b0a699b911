"""A quirk that changes the messages of a device's mailbox: requests it answers itself, and a queue of replies."""
from libc.stdint cimport int64_t, uint8_t

from io_bridge.emulator.controller.memory cimport MAILBOX_BYTES, Application
from io_bridge.emulator.quirks.quirk cimport Layer, Quirk

cdef enum:
    MOST_MESSAGES = 4

cdef struct Message:
    int64_t due_ns               # not to leave before; 0 = at once
    int size
    uint8_t data[MAILBOX_BYTES]

cdef struct MailboxLayer:
    Layer layer
    # a request came: answer it in place of the device and return the length, or -1; NULL = -1
    int (*answer)(MailboxLayer *m, const uint8_t *request, int n, uint8_t *reply, int capacity) noexcept nogil
    # the device says `message`: `post` what is to leave; NULL = that
    void (*leaving)(MailboxLayer *m, uint8_t *message, int size) noexcept nogil
    # the AL state changed; NULL = nothing to do
    void (*changed)(MailboxLayer *m, int state) noexcept nogil
    int more_below               # the device has more to say
    int first
    int n
    Message messages[MOST_MESSAGES]


cdef void post(MailboxLayer *m, const uint8_t *data, int size, int64_t due_ns) noexcept nogil
cdef void post_unasked(MailboxLayer *m, const uint8_t *data, int size) noexcept nogil
cdef int write_abort(const uint8_t *request, uint8_t *reply, int code) noexcept nogil
cdef int is_initiate(const uint8_t *request, int n) noexcept nogil
cdef int is_sdo_reply(const uint8_t *message, int size) noexcept nogil


cdef class MailboxQuirk(Quirk):
    cdef void watch(self, MailboxLayer *m)
    cdef void install(self, Application *app)

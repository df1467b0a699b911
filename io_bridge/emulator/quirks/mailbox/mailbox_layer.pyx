"""Common ground of the quirks of the mailbox: the queue of messages that leave, and the form of an SDO message."""
from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.string cimport memcpy

from io_bridge.emulator.coe.message cimport (
    MAILBOX_HEADER, SDO, SDO_DATA, SERVICE_REQUEST, SERVICE_RESPONSE, TYPE_COE,
)
from io_bridge.emulator.controller.memory cimport AL_INIT
from io_bridge.wire.fields cimport get16, put16, put32


cdef void post(MailboxLayer *m, const uint8_t *data, int size, int64_t due_ns) noexcept nogil:
    """Let a message leave after those that wait; one too many is lost."""
    cdef Message *message = &m.messages[(m.first + m.n) % MOST_MESSAGES]
    if m.n >= MOST_MESSAGES or not 0 < size <= MAILBOX_BYTES:
        return
    message.due_ns = due_ns
    message.size = size
    memcpy(message.data, data, size)
    m.n += 1


cdef void post_unasked(MailboxLayer *m, const uint8_t *data, int size) noexcept nogil:
    """Let a message leave that nobody asked for."""
    post(m, data, size, 0)
    m.layer.esc.mailbox_more = 1


cdef int write_abort(const uint8_t *request, uint8_t *reply, int code) noexcept nogil:
    """Write the abort of an SDO request, with the request's own counter. Return its length."""
    put16(reply, 10)
    put16(reply + 2, 0)
    reply[4] = 0
    reply[5] = <uint8_t> (request[5] & 0x70 | TYPE_COE)
    put16(reply + MAILBOX_HEADER, SERVICE_REQUEST << 12)
    reply[SDO] = 0x80
    memcpy(reply + SDO + 1, request + SDO + 1, 3)
    put32(reply + SDO_DATA, <uint32_t> code)
    return SDO_DATA + 4


cdef int is_initiate(const uint8_t *request, int n) noexcept nogil:
    """Return the kind of SDO transfer that a request begins: 1 a download, 2 an upload, 0 neither."""
    if n < SDO_DATA + 4 or request[5] & 0x0F != TYPE_COE:
        return 0
    if get16(request + MAILBOX_HEADER) >> 12 != SERVICE_REQUEST:
        return 0
    return request[SDO] >> 5 if request[SDO] >> 5 in (1, 2) else 0


cdef int is_sdo_reply(const uint8_t *message, int size) noexcept nogil:
    """Return whether a message is the answer to an SDO request; an abort is one, too."""
    cdef int service
    if size < SDO_DATA + 4 or message[5] & 0x0F != TYPE_COE:
        return 0
    service = get16(message + MAILBOX_HEADER) >> 12
    return service == SERVICE_RESPONSE or service == SERVICE_REQUEST


cdef int mailbox(void *self, const uint8_t *request, int n, uint8_t *reply, int capacity, int al_state,
                 int *more) noexcept nogil:
    cdef MailboxLayer *m = <MailboxLayer *> self
    cdef Layer *layer = &m.layer
    cdef Message *message
    cdef int size = 0
    if n:
        size = -1 if m.answer == NULL else m.answer(m, request, n, reply, capacity)
    if n and size < 0 or not n and m.n == 0:
        size = layer.below.mailbox(layer.below.self, request, n, reply, capacity, al_state, &m.more_below)
    if 0 < size <= capacity:
        if m.leaving == NULL:
            post(m, reply, size, 0)
        else:
            m.leaving(m, reply, size)
    size = 0
    message = &m.messages[m.first]
    if m.n and message.due_ns <= layer.esc.now_ns:
        size = message.size
        if size <= capacity:
            memcpy(reply, message.data, size)
        m.first = (m.first + 1) % MOST_MESSAGES
        m.n -= 1
    more[0] = m.n > 0 or m.more_below
    return size


cdef void forget(MailboxLayer *m) noexcept nogil:
    m.first = 0
    m.n = 0
    m.more_below = 0


cdef void powered(void *self) noexcept nogil:
    cdef MailboxLayer *m = <MailboxLayer *> self
    forget(m)
    m.layer.below.powered(m.layer.below.self)


cdef void al_changed(void *self, int state, int code) noexcept nogil:
    cdef MailboxLayer *m = <MailboxLayer *> self
    if state == AL_INIT:
        forget(m)
    m.layer.below.al_changed(m.layer.below.self, state, code)
    if m.changed != NULL:
        m.changed(m, state)


cdef class MailboxQuirk(Quirk):
    """A quirk of the mailbox; a subclass has its state begin with a `MailboxLayer` and calls `watch`."""

    cdef void watch(self, MailboxLayer *m):
        self.layer = &m.layer

    cdef void install(self, Application *app):
        app.mailbox = mailbox
        app.powered = powered
        app.al_changed = al_changed

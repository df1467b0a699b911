"""SDO server of an emulated device (CANopen over EtherCAT, ETG.1000.6 section 5.6).

Expedited and normal download, expedited, normal and segmented upload. Complete access and segmented
download are refused by abort (the SII does not offer them); the information service is refused by
its own error reply.
"""
from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy, memset

from io_bridge.esc_memory cimport AL_PREOP
from io_bridge.object_dictionary cimport READ, Entry, od_find, od_has_index, od_write
from io_bridge.wire cimport get16, get32, put16, put32

cdef enum:
    MAILBOX_HEADER = 6
    TYPE_ERROR = 0
    TYPE_COE = 3
    SERVICE_REQUEST = 2
    SERVICE_RESPONSE = 3
    SERVICE_INFO = 8
    SDO = MAILBOX_HEADER + 2        # offset of the SDO command byte
    SDO_DATA = SDO + 4
    COMPLETE_ACCESS = 0x10
    ABORT = 0x80

cdef enum:
    ABORT_TOGGLE = 0x05030000
    ABORT_COMMAND = 0x05040001
    ABORT_ACCESS = 0x06010000
    ABORT_WRITE_ONLY = 0x06010001
    ABORT_NO_OBJECT = 0x06020000
    ABORT_LENGTH = 0x06070010
    ABORT_NO_SUBINDEX = 0x06090011


cdef int finish(CoeServer *coe, uint8_t *reply, int kind, int service, int size) noexcept nogil:
    """Write the mailbox header for `size` bytes of payload. Return the whole length."""
    coe.counter = <uint8_t> (coe.counter % 7 + 1)
    put16(reply, <uint16_t> size)
    put16(reply + 2, 0)
    reply[4] = 0
    reply[5] = <uint8_t> (coe.counter << 4 | kind)
    if kind == TYPE_COE:
        put16(reply + MAILBOX_HEADER, <uint16_t> (service << 12))
    return MAILBOX_HEADER + size


cdef int mailbox_error(CoeServer *coe, uint8_t *reply, int code) noexcept nogil:
    """A reply of type 0: 2 = protocol not supported, 8 = size."""
    put16(reply + MAILBOX_HEADER, 1)
    put16(reply + MAILBOX_HEADER + 2, <uint16_t> code)
    return finish(coe, reply, TYPE_ERROR, 0, 4)


cdef int abort_transfer(CoeServer *coe, const uint8_t *request, uint8_t *reply,
                        uint32_t code) noexcept nogil:
    coe.segment = NULL
    reply[SDO] = ABORT
    memcpy(reply + SDO + 1, request + SDO + 1, 3)
    put32(reply + SDO_DATA, code)
    return finish(coe, reply, TYPE_COE, SERVICE_REQUEST, 10)


cdef int upload(CoeServer *coe, const Entry *entry, uint8_t *reply, int capacity) noexcept nogil:
    cdef int room = capacity - SDO_DATA - 4
    cdef int size = entry.size
    put16(reply + SDO + 1, entry.index)
    reply[SDO + 3] = entry.subindex
    if size <= 4:
        reply[SDO] = <uint8_t> (0x43 | (4 - size) << 2)
        memset(reply + SDO_DATA, 0, 4)
        memcpy(reply + SDO_DATA, entry.value, size)
        return finish(coe, reply, TYPE_COE, SERVICE_RESPONSE, 10)
    reply[SDO] = 0x41
    put32(reply + SDO_DATA, size)
    if size > room:
        coe.segment = entry.value + room
        coe.segment_left = size - room
        coe.toggle = 0
        size = room
    memcpy(reply + SDO_DATA + 4, entry.value, size)
    return finish(coe, reply, TYPE_COE, SERVICE_RESPONSE, 10 + size)


cdef int upload_segment(CoeServer *coe, const uint8_t *request, uint8_t *reply,
                        int capacity) noexcept nogil:
    cdef int room = capacity - SDO - 1
    cdef int size = coe.segment_left
    if coe.segment == NULL:
        return abort_transfer(coe, request, reply, ABORT_COMMAND)
    if (request[SDO] >> 4 & 1) != coe.toggle:
        return abort_transfer(coe, request, reply, ABORT_TOGGLE)
    if size > room:
        size = room
    memset(reply + SDO, 0, 8)
    reply[SDO] = <uint8_t> (coe.toggle << 4)
    memcpy(reply + SDO + 1, coe.segment, size)
    coe.segment += size
    coe.segment_left -= size
    coe.toggle ^= 1
    if coe.segment_left == 0:
        reply[SDO] |= 1
        coe.segment = NULL
    if size < 7:
        # fewer than seven bytes: the unused ones are counted and sent
        reply[SDO] |= <uint8_t> ((7 - size) << 1)
        size = 7
    return finish(coe, reply, TYPE_COE, SERVICE_RESPONSE, 3 + size)


cdef int download(CoeServer *coe, Entry *entry, const uint8_t *request, int payload, uint8_t *reply,
                  int al_state) noexcept nogil:
    cdef int command = request[SDO]
    cdef int size
    cdef uint32_t code
    cdef const uint8_t *data = request + SDO_DATA
    if command & 2:
        size = 4 - (command >> 2 & 3) if command & 1 else entry.size
        if size > 4:
            return abort_transfer(coe, request, reply, ABORT_LENGTH)
    else:
        if payload < 10 or get32(data) > <uint32_t> (payload - 10):
            return abort_transfer(coe, request, reply, ABORT_COMMAND)
        size = <int> get32(data)
        data += 4
    code = od_write(&coe.od, entry, data, size, al_state == AL_PREOP)
    if code:
        return abort_transfer(coe, request, reply, code)
    reply[SDO] = 0x60
    put16(reply + SDO + 1, entry.index)
    reply[SDO + 3] = entry.subindex
    put32(reply + SDO_DATA, 0)
    return finish(coe, reply, TYPE_COE, SERVICE_RESPONSE, 10)


cdef int coe_answer(CoeServer *coe, const uint8_t *request, int n, uint8_t *reply, int capacity,
                    int al_state) noexcept nogil:
    """Answer one mailbox request of n bytes. Return the reply's length (capacity is at least 16), 0
    for none."""
    cdef int payload = get16(request) if n >= MAILBOX_HEADER else 0
    cdef int service, command
    cdef Entry *entry
    if n < SDO_DATA + 4 or MAILBOX_HEADER + payload > n:
        return mailbox_error(coe, reply, 8)
    if request[5] & 0x0F != TYPE_COE:
        return mailbox_error(coe, reply, 2)
    if payload < 6:
        return mailbox_error(coe, reply, 8)
    service = get16(request + MAILBOX_HEADER) >> 12
    command = request[SDO]
    if service == SERVICE_INFO:
        memset(reply + SDO, 0, 4)
        reply[SDO] = 7
        put32(reply + SDO_DATA, ABORT_ACCESS)
        return finish(coe, reply, TYPE_COE, SERVICE_INFO, 10)
    if service != SERVICE_REQUEST:
        return mailbox_error(coe, reply, 2)
    if command >> 5 == 4:
        coe.segment = NULL
        return 0
    if command >> 5 == 3:
        return upload_segment(coe, request, reply, capacity)
    coe.segment = NULL
    if command >> 5 != 1 and command >> 5 != 2:
        return abort_transfer(coe, request, reply, ABORT_COMMAND)
    if command & COMPLETE_ACCESS:
        return abort_transfer(coe, request, reply, ABORT_ACCESS)
    entry = od_find(&coe.od, get16(request + SDO + 1), request[SDO + 3])
    if entry == NULL:
        if od_has_index(&coe.od, get16(request + SDO + 1)):
            return abort_transfer(coe, request, reply, ABORT_NO_SUBINDEX)
        return abort_transfer(coe, request, reply, ABORT_NO_OBJECT)
    if command >> 5 == 1:
        return download(coe, entry, request, payload, reply, al_state)
    if not entry.access & READ:
        return abort_transfer(coe, request, reply, ABORT_WRITE_ONLY)
    return upload(coe, entry, reply, capacity)

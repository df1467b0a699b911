"""SDO server of an emulated device: expedited, normal and segmented transfer, both ways, of an entry
or of a whole object (complete access)."""
from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memcpy, memset

from io_bridge.emulator.coe.abort_codes cimport (
    ABORT_ACCESS, ABORT_COMMAND, ABORT_NO_OBJECT, ABORT_NO_SUBINDEX, ABORT_SIZE, ABORT_TOGGLE,
    ABORT_WRITE_ONLY,
)
from io_bridge.emulator.coe.message cimport (
    COMPLETE_ACCESS, DOWNLOAD, IDLE, SDO, SDO_DATA, SERVICE_RESPONSE, TRANSFER_BYTES, TYPE_COE,
    UPLOAD, CoeServer, abort_transfer, finish,
)
from io_bridge.emulator.coe.complete_access cimport object_pack, object_unpack
from io_bridge.emulator.controller.memory cimport AL_PREOP
from io_bridge.emulator.coe.object_dictionary cimport (
    READ, Entry, Object, od_find, od_may_write, od_object, od_store,
)
from io_bridge.wire.fields cimport get16, get32, put16, put32

cdef enum:                     # command specifiers of a client, bits 5-7
    DOWNLOAD_SEGMENT = 0
    DOWNLOAD_INITIATE = 1
    UPLOAD_INITIATE = 2
    UPLOAD_SEGMENT = 3
    ABORT_REQUEST = 4


cdef int refused(CoeServer *coe, uint8_t *reply, uint32_t code) noexcept nogil:
    return abort_transfer(coe, coe.index, coe.subindex, reply, code)


cdef int confirmed(CoeServer *coe, uint8_t *reply, int command) noexcept nogil:
    """A reply that carries index and subindex but no data."""
    reply[SDO] = <uint8_t> command
    put16(reply + SDO + 1, coe.index)
    reply[SDO + 3] = coe.subindex
    put32(reply + SDO_DATA, 0)
    return finish(coe, reply, TYPE_COE, SERVICE_RESPONSE, 10)


cdef int upload(CoeServer *coe, uint8_t *reply, int capacity) noexcept nogil:
    """Start an upload: a copy of the value, so that all its segments are of one moment."""
    cdef int room = capacity - SDO_DATA - 4
    cdef int complete = COMPLETE_ACCESS if coe.complete else 0
    cdef Entry *entry
    cdef uint32_t code
    if coe.complete:
        code = object_pack(&coe.od, coe.index, coe.subindex, coe.data, TRANSFER_BYTES, &coe.size)
        if code:
            return refused(coe, reply, code)
    else:
        entry = od_find(&coe.od, coe.index, coe.subindex)
        if not entry.access & READ:
            return refused(coe, reply, ABORT_WRITE_ONLY)
        if entry.length > TRANSFER_BYTES:
            return refused(coe, reply, ABORT_SIZE)
        coe.size = entry.length
        memcpy(coe.data, entry.value, coe.size)
    if 1 <= coe.size <= 4:
        confirmed(coe, reply, 0x43 | (4 - coe.size) << 2 | complete)
        memcpy(reply + SDO_DATA, coe.data, coe.size)
        return SDO_DATA + 4
    reply[SDO] = <uint8_t> (0x41 | complete)
    put16(reply + SDO + 1, coe.index)
    reply[SDO + 3] = coe.subindex
    put32(reply + SDO_DATA, coe.size)
    coe.done = coe.size
    if coe.size > room:
        coe.done = room
        coe.transfer = UPLOAD
        coe.toggle = 0
    memcpy(reply + SDO_DATA + 4, coe.data, coe.done)
    return finish(coe, reply, TYPE_COE, SERVICE_RESPONSE, 10 + coe.done)


cdef int upload_segment(CoeServer *coe, int command, uint8_t *reply, int capacity) noexcept nogil:
    cdef int room = capacity - SDO - 1
    cdef int size = coe.size - coe.done
    if coe.transfer != UPLOAD:
        return refused(coe, reply, ABORT_COMMAND)
    if (command >> 4 & 1) != coe.toggle:
        return refused(coe, reply, ABORT_TOGGLE)
    if size > room:
        size = room
    memset(reply + SDO, 0, 8)
    reply[SDO] = <uint8_t> (coe.toggle << 4)
    memcpy(reply + SDO + 1, coe.data + coe.done, size)
    coe.done += size
    coe.toggle ^= 1
    if coe.done == coe.size:
        reply[SDO] |= 1
        coe.transfer = IDLE
    if size < 7:
        # fewer than seven bytes: the unused ones are counted and sent
        reply[SDO] |= <uint8_t> ((7 - size) << 1)
        size = 7
    return finish(coe, reply, TYPE_COE, SERVICE_RESPONSE, 3 + size)


cdef uint32_t store(CoeServer *coe, const uint8_t *data, int size, int al_state) noexcept nogil:
    """Write a download that has arrived in full. Return 0 or the abort code."""
    cdef Entry *entry
    cdef uint32_t code
    if coe.complete:
        return object_unpack(&coe.od, coe.index, coe.subindex, data, size, al_state == AL_PREOP)
    entry = od_find(&coe.od, coe.index, coe.subindex)
    code = od_may_write(&coe.od, entry, data, size, al_state == AL_PREOP)
    if code == 0:
        od_store(entry, data, size)
    return code


cdef int download(CoeServer *coe, const uint8_t *request, int payload, uint8_t *reply,
                  int al_state) noexcept nogil:
    """Start a download: all in this request, or the first part of segments."""
    cdef int command = request[SDO]
    cdef int size, here
    cdef uint32_t announced, code
    cdef Entry *entry
    cdef const uint8_t *data = request + SDO_DATA
    if command & 2:
        size = 4
        if command & 1:
            size = 4 - (command >> 2 & 3)
        elif not coe.complete:
            entry = od_find(&coe.od, coe.index, coe.subindex)
            if entry.size > 4:
                return refused(coe, reply, ABORT_SIZE)
            size = entry.size
    else:
        if payload < 10:
            return refused(coe, reply, ABORT_COMMAND)
        announced = get32(data)
        if announced == 0 or announced > TRANSFER_BYTES:
            return refused(coe, reply, ABORT_SIZE)
        data += 4
        size = <int> announced
        here = payload - 10
        if here < size:
            memcpy(coe.data, data, here)
            coe.transfer = DOWNLOAD
            coe.size = size
            coe.done = here
            coe.toggle = 0
            return confirmed(coe, reply, 0x60 | command & COMPLETE_ACCESS)
    code = store(coe, data, size, al_state)
    if code:
        return refused(coe, reply, code)
    return confirmed(coe, reply, 0x60 | command & COMPLETE_ACCESS)


cdef int download_segment(CoeServer *coe, const uint8_t *request, int payload, uint8_t *reply,
                          int al_state) noexcept nogil:
    cdef int command = request[SDO]
    cdef int size = payload - 3
    cdef int toggle = coe.toggle
    cdef uint32_t code
    if coe.transfer != DOWNLOAD:
        return refused(coe, reply, ABORT_COMMAND)
    if (command >> 4 & 1) != toggle:
        return refused(coe, reply, ABORT_TOGGLE)
    if size <= 7:
        size -= command >> 1 & 7
    if size < 0 or coe.done + size > coe.size:
        return refused(coe, reply, ABORT_SIZE)
    memcpy(coe.data + coe.done, request + SDO + 1, size)
    coe.done += size
    coe.toggle ^= 1
    if command & 1:
        coe.transfer = IDLE
        if coe.done != coe.size:
            return refused(coe, reply, ABORT_SIZE)
        code = store(coe, coe.data, coe.size, al_state)
        if code:
            return refused(coe, reply, code)
    memset(reply + SDO, 0, 8)
    reply[SDO] = <uint8_t> (0x20 | toggle << 4)
    return finish(coe, reply, TYPE_COE, SERVICE_RESPONSE, 10)


cdef int sdo_answer(CoeServer *coe, const uint8_t *request, int payload, uint8_t *reply,
                    int capacity, int al_state) noexcept nogil:
    """Answer an SDO request whose `payload` bytes (6 or more) follow the mailbox header. Return the
    reply's length, 0 for none."""
    cdef int command = request[SDO]
    cdef int specifier = command >> 5
    cdef Object *o
    if specifier == ABORT_REQUEST:
        coe.transfer = IDLE
        return 0
    if specifier == UPLOAD_SEGMENT:
        return upload_segment(coe, command, reply, capacity)
    if specifier == DOWNLOAD_SEGMENT:
        return download_segment(coe, request, payload, reply, al_state)
    coe.transfer = IDLE
    coe.index = get16(request + SDO + 1)
    coe.subindex = request[SDO + 3]
    coe.complete = command & COMPLETE_ACCESS
    if specifier != DOWNLOAD_INITIATE and specifier != UPLOAD_INITIATE:
        return refused(coe, reply, ABORT_COMMAND)
    o = od_object(&coe.od, coe.index)
    if o == NULL:
        return refused(coe, reply, ABORT_NO_OBJECT)
    if coe.complete:
        if coe.subindex > 1:
            return refused(coe, reply, ABORT_ACCESS)
    elif od_find(&coe.od, coe.index, coe.subindex) == NULL:
        return refused(coe, reply, ABORT_NO_SUBINDEX)
    if specifier == UPLOAD_INITIATE:
        return upload(coe, reply, capacity)
    if payload < 10:
        return refused(coe, reply, ABORT_COMMAND)
    return download(coe, request, payload, reply, al_state)

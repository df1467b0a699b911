"""SDO information service of an emulated device: the list of objects, and their descriptions
(ETG.1000.6 section 5.6.3). A long list leaves in fragments, one mailbox each."""
from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy

from io_bridge.emulator.coe.abort_codes cimport (
    ABORT_ACCESS, ABORT_COMMAND, ABORT_NO_OBJECT, ABORT_NO_SUBINDEX,
)
from io_bridge.emulator.coe.message cimport SDO, SDO_DATA, SERVICE_INFO, TYPE_COE, CoeServer, finish
from io_bridge.emulator.coe.object_dictionary cimport (
    MAP_INPUT, MAP_OUTPUT, READ, WRITE, WRITE_PREOP, Entry, Object, od_find, od_object,
)
from io_bridge.wire.fields cimport get16, put16, put32

cdef enum:                     # operation codes
    LIST_REQUEST = 1
    LIST_RESPONSE = 2
    OBJECT_REQUEST = 3
    OBJECT_RESPONSE = 4
    ENTRY_REQUEST = 5
    ENTRY_RESPONSE = 6
    ERROR_RESPONSE = 7

cdef enum:
    INCOMPLETE = 0x80
    N_LISTS = 5                # all, RxPDO, TxPDO, stored on replacement, start-up parameters
    OF_REPLACEMENT = 4
    OF_STARTUP = 5


cdef int said(CoeServer *coe, uint8_t *reply, int opcode, int fragments, int size) noexcept nogil:
    """The information header; `size` bytes of data follow it."""
    reply[SDO] = <uint8_t> opcode
    reply[SDO + 1] = 0
    put16(reply + SDO + 2, <uint16_t> fragments)
    return finish(coe, reply, TYPE_COE, SERVICE_INFO, 6 + size)


cdef int refused(CoeServer *coe, uint8_t *reply, uint32_t code) noexcept nogil:
    put32(reply + SDO_DATA, code)
    return said(coe, reply, ERROR_RESPONSE, 0, 4)


cdef int in_list(const CoeServer *coe, const Object *o, int list_type) noexcept nogil:
    cdef int wanted = MAP_OUTPUT if list_type == 2 else MAP_INPUT
    cdef int i
    if list_type == 1:
        return 1
    if list_type >= OF_REPLACEMENT:
        # nothing is stored over a power cycle, so a replaced device needs nothing
        return list_type == OF_STARTUP and (0x1600 <= o.index < 0x1C00 or o.index >> 4 == 0x1C1)
    for i in range(o.first, o.first + o.n_entries):
        if coe.od.entries[i].access & wanted:
            return 1
    return 0


cdef int in_list_count(const CoeServer *coe, int list_type) noexcept nogil:
    cdef int i
    cdef int count = 0
    for i in range(coe.od.n_objects):
        count += in_list(coe, &coe.od.objects[i], list_type)
    return count


cdef int list_lengths(CoeServer *coe, uint8_t *reply) noexcept nogil:
    """List type 0: how long each list is. Return the bytes of data."""
    cdef int i
    put16(reply + SDO_DATA, 0)
    for i in range(N_LISTS):
        put16(reply + SDO_DATA + 2 + 2 * i, <uint16_t> in_list_count(coe, i + 1))
    return 2 + 2 * N_LISTS


cdef int list_fragment(CoeServer *coe, uint8_t *reply, int capacity, int at,
                       int *more) noexcept nogil:
    """Send indices from data offset `at` on: as many as fit."""
    cdef int room = (capacity - SDO_DATA) // 2
    cdef int here = 0
    cdef int fragments = 0
    cdef Object *o
    while at + 2 * here + 2 <= 2 * room and coe.list_at < coe.od.n_objects and coe.list_left > 0:
        o = &coe.od.objects[coe.list_at]
        coe.list_at += 1
        if in_list(coe, o, coe.list_type):
            put16(reply + SDO_DATA + at + 2 * here, o.index)
            here += 1
            coe.list_left -= 1
    if coe.list_left > 0:
        fragments = (coe.list_left + room - 1) // room
    more[0] = fragments > 0
    return said(coe, reply, LIST_RESPONSE | (INCOMPLETE if fragments else 0), fragments,
                at + 2 * here)


cdef int list_answer(CoeServer *coe, int list_type, uint8_t *reply, int capacity,
                     int *more) noexcept nogil:
    if list_type > N_LISTS:
        return refused(coe, reply, ABORT_ACCESS)
    if list_type == 0:
        if capacity < SDO_DATA + 2 + 2 * N_LISTS:
            return refused(coe, reply, ABORT_ACCESS)
        return said(coe, reply, LIST_RESPONSE, 0, list_lengths(coe, reply))
    coe.list_type = <uint16_t> list_type
    coe.list_at = 0
    coe.list_left = in_list_count(coe, list_type)
    put16(reply + SDO_DATA, coe.list_type)
    return list_fragment(coe, reply, capacity, 2, more)


cdef int with_name(CoeServer *coe, uint8_t *reply, int capacity, int opcode, int at,
                   const char *name, int size) noexcept nogil:
    """A description whose fixed part has `at` bytes, and the name, as much of it as fits."""
    if SDO_DATA + at + size > capacity:
        size = capacity - SDO_DATA - at
    memcpy(reply + SDO_DATA + at, name, size)
    return said(coe, reply, opcode, 0, at + size)


cdef int object_answer(CoeServer *coe, const Object *o, uint8_t *reply,
                       int capacity) noexcept nogil:
    put16(reply + SDO_DATA, o.index)
    put16(reply + SDO_DATA + 2, o.type)
    reply[SDO_DATA + 4] = coe.od.entries[o.first + o.n_entries - 1].subindex
    reply[SDO_DATA + 5] = o.code
    return with_name(coe, reply, capacity, OBJECT_RESPONSE, 6, o.name, o.name_size)


cdef int access_word(const Entry *entry) noexcept nogil:
    """Bits 0-2 read in PREOP, SAFEOP, OP; 3-5 write; 6 and 7 mappable as output, as input."""
    cdef int word = 0
    if entry.access & READ:
        word |= 0x07
    if entry.access & WRITE:
        word |= 0x38
    elif entry.access & WRITE_PREOP:
        word |= 0x08
    if entry.access & MAP_OUTPUT:
        word |= 0x40
    if entry.access & MAP_INPUT:
        word |= 0x80
    return word


cdef int entry_answer(CoeServer *coe, const Entry *entry, uint8_t *reply,
                      int capacity) noexcept nogil:
    """No unit, default or limits are given, even if they were asked for."""
    put16(reply + SDO_DATA, entry.index)
    reply[SDO_DATA + 2] = entry.subindex
    reply[SDO_DATA + 3] = 0
    put16(reply + SDO_DATA + 4, entry.type)
    put16(reply + SDO_DATA + 6, entry.bits)
    put16(reply + SDO_DATA + 8, <uint16_t> access_word(entry))
    return with_name(coe, reply, capacity, ENTRY_RESPONSE, 10, entry.name, entry.name_size)


cdef int info_answer(CoeServer *coe, const uint8_t *request, int payload, uint8_t *reply,
                     int capacity, int *more) noexcept nogil:
    """Answer an information request whose `payload` bytes follow the mailbox header."""
    cdef int opcode = request[SDO] & 0x7F
    cdef int index
    cdef Object *o
    cdef Entry *entry
    coe.list_left = 0
    if payload < 8 or capacity < SDO_DATA + 10:
        return refused(coe, reply, ABORT_COMMAND)
    index = get16(request + SDO_DATA)
    if opcode == LIST_REQUEST:
        return list_answer(coe, index, reply, capacity, more)
    if opcode != OBJECT_REQUEST and opcode != ENTRY_REQUEST:
        return refused(coe, reply, ABORT_COMMAND)
    o = od_object(&coe.od, index)
    if o == NULL or o.n_entries == 0:
        return refused(coe, reply, ABORT_NO_OBJECT)
    if opcode == OBJECT_REQUEST:
        return object_answer(coe, o, reply, capacity)
    if payload < 10:
        return refused(coe, reply, ABORT_COMMAND)
    entry = od_find(&coe.od, index, request[SDO_DATA + 2])
    if entry == NULL:
        return refused(coe, reply, ABORT_NO_SUBINDEX)
    return entry_answer(coe, entry, reply, capacity)


cdef int info_continue(CoeServer *coe, uint8_t *reply, int capacity, int *more) noexcept nogil:
    """The next fragment of the list under way; 0 when there is none."""
    if coe.list_left <= 0:
        return 0
    return list_fragment(coe, reply, capacity, 0, more)

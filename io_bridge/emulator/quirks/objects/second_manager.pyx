"""A slave whose outputs lie in two sync managers, each with PDOs of its own (a terminal of 16 outputs, some drives)."""
from libc.stdint cimport uint8_t
from libc.string cimport memcpy, memset

from io_bridge.emulator.coe.message cimport MAILBOX_HEADER, SDO, SDO_DATA, SERVICE_RESPONSE, TYPE_COE
from io_bridge.emulator.devices.described_device cimport DescribedDevice
from io_bridge.emulator.controller.memory cimport AL_INVALID_OUTPUTS, ESC_MEMORY, N_SM, REG_SM, Application
from io_bridge.emulator.quirks.mailbox.mailbox_layer cimport MailboxLayer, MailboxQuirk, is_initiate, write_abort
from io_bridge.wire.fields cimport get16, put16

import struct

from io_bridge.emulator.quirks.eeprom.eeprom import HEAD, MANAGERS, RX_PDO, categories
cdef enum:
    MOST_BYTES = 256
    MOST_PDOS = 16
    ASSIGN = 0x1C10
    OUTPUT_MODE = 0x04
    READ_ONLY = 0x06010002
    NO_SUBINDEX = 0x06090011
    ROW = 8
    PLACE_STEP = 0x80


cdef struct Second:
    MailboxLayer mailbox
    int first                    # number of the sync manager that the controller serves
    int number                   # and of the second one
    int bits                     # of the PDOs in the first one, and in the second
    int more_bits
    int at                       # where the second one lies, once SAFEOP was asked for
    int n_pdos
    int pdos[MOST_PDOS]          # of the second one


cdef int map_pdos(void *self, int *n_outputs, int *n_inputs) noexcept nogil:
    cdef Second *s = <Second *> self
    cdef const uint8_t *sm = s.mailbox.layer.esc.memory + REG_SM + ROW * s.number
    cdef int code = s.mailbox.layer.below.map_pdos(s.mailbox.layer.below.self, n_outputs, n_inputs)
    cdef int n = (s.more_bits + 7) // 8
    if code:
        return code
    s.at = get16(sm)
    if get16(sm + 2) != n or not sm[6] & 1 or sm[4] & 0x0F != OUTPUT_MODE or s.at + n > ESC_MEMORY:
        return AL_INVALID_OUTPUTS
    n_outputs[0] = (s.bits + 7) // 8
    return 0


cdef void take_outputs(void *self, const uint8_t *data, int n) noexcept nogil:
    """The device takes the bits of both, without the rest of the byte between them."""
    cdef Second *s = <Second *> self
    cdef uint8_t both[MOST_BYTES]
    cdef const uint8_t *more = s.mailbox.layer.esc.memory + s.at
    cdef int i, bit
    memset(both, 0, MOST_BYTES)
    memcpy(both, data, min(n, MOST_BYTES))
    if s.bits & 7:
        both[s.bits >> 3] &= <uint8_t> ((1 << (s.bits & 7)) - 1)
    for i in range(s.more_bits):
        bit = s.bits + i
        both[bit >> 3] |= <uint8_t> ((more[i >> 3] >> (i & 7) & 1) << (bit & 7))
    s.mailbox.layer.below.take_outputs(s.mailbox.layer.below.self, both, (s.bits + s.more_bits + 7) // 8)


cdef int uploaded(const uint8_t *request, uint8_t *reply, int value, int size) noexcept nogil:
    put16(reply, 10)
    put16(reply + 2, 0)
    reply[4] = 0
    reply[5] = <uint8_t> (request[5] & 0x70 | TYPE_COE)
    put16(reply + MAILBOX_HEADER, SERVICE_RESPONSE << 12)
    reply[SDO] = <uint8_t> (0x43 | (4 - size) << 2)
    memcpy(reply + SDO + 1, request + SDO + 1, 3)
    memset(reply + SDO_DATA, 0, 4)
    put16(reply + SDO_DATA, <unsigned short> value)
    return SDO_DATA + 4


cdef int answer(MailboxLayer *m, const uint8_t *request, int n, uint8_t *reply, int capacity) noexcept nogil:
    """Each sync manager has an assignment of its own, and nothing of the outputs can be written."""
    cdef Second *s = <Second *> m
    cdef int kind = is_initiate(request, n)
    cdef int index, sub
    if not kind:
        return -1
    index, sub = get16(request + SDO + 1), request[SDO + 3]
    if index != ASSIGN + s.first and index != ASSIGN + s.number:
        if kind == 1 and 0x1600 <= index < 0x1800:
            return write_abort(request, reply, READ_ONLY)
        return -1
    if kind == 1:
        return write_abort(request, reply, READ_ONLY)
    if index == ASSIGN + s.first:
        if sub > 1:
            return write_abort(request, reply, NO_SUBINDEX)
        return -1 if sub else uploaded(request, reply, 1, 1)
    if sub > s.n_pdos:
        return write_abort(request, reply, NO_SUBINDEX)
    return uploaded(request, reply, s.pdos[sub - 1], 2) if sub else uploaded(request, reply, s.n_pdos, 1)


cdef class SecondManager(MailboxQuirk):
    """The first output PDO has one sync manager, all others a further one after those of the device."""

    cdef Second second

    OPTIONS = {}

    def __init__(self) -> None:
        self.second.mailbox.answer = answer
        self.watch(&self.second.mailbox)

    def attach(self, DescribedDevice device not None) -> None:
        cdef Second *s = &self.second
        description = device.description
        pdos = [pdo for pdo in description.rx_pdos if pdo.assigned]
        n = len(description.managers)
        bits = [sum(entry[2] for entry in pdo.entries) for pdo in pdos]
        if not 2 <= len(pdos) <= MOST_PDOS or n >= N_SM or sum(bits) > 8 * MOST_BYTES:
            raise ValueError(f"quirk second_manager: {description.name} has {len(pdos)} output PDOs and {n} sync "
                             f"managers: 2 to {MOST_PDOS} and fewer than {N_SM} are needed")
        s.first, s.number = description.manager_of(3), n
        s.bits, s.more_bits = bits[0], sum(bits[1:])
        s.n_pdos = len(pdos) - 1
        for i in range(s.n_pdos):
            s.pdos[i] = pdos[i + 1].index
        MailboxQuirk.attach(self, device)
        device.eeprom = self._eeprom(device.eeprom, {pdo.index for pdo in pdos[1:]})

    cdef void install(self, Application *app):
        MailboxQuirk.install(self, app)
        app.map_pdos = map_pdos
        app.take_outputs = take_outputs

    def _eeprom(self, image: bytes, moved: set[int]) -> bytes:
        """Return the image with a row for the second sync manager, and its PDOs in it."""
        parts = [image[:HEAD]]
        for kind, start, end in categories(image):
            body = bytearray(image[start:end])
            if kind == MANAGERS:
                body = self._rows(body)
            elif kind == RX_PDO:
                at = 0
                while at + ROW <= len(body):
                    index, n_entries = struct.unpack_from("<HB", body, at)
                    if index in moved:
                        body[at + 3] = self.second.number
                    at += ROW * (1 + n_entries)
            parts.append(struct.pack("<HH", kind, len(body) // 2) + bytes(body))
        return b"".join(parts) + b"\xff\xff"

    def _rows(self, body: bytearray) -> bytearray:
        rows = [list(row) for row in struct.iter_unpack("<HHBBBB", body)]
        first = rows[self.second.first]
        size, more = (self.second.bits + 7) // 8, (self.second.more_bits + 7) // 8
        behind = max(row[0] + 3 * max(row[1], PLACE_STEP) for row in rows)
        rows.append([-(-behind // PLACE_STEP) * PLACE_STEP, more, *first[2:]])
        first[1] = size
        return bytearray(b"".join(struct.pack("<HHBBBB", *row) for row in rows))

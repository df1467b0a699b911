"""Process data of an emulated device: assignment and mapping resolved to values of the dictionary,
and their copies to and from the sync managers, bit by bit where they are not whole bytes."""
from libc.stdint cimport uint8_t
from libc.string cimport memcpy, memset

from io_bridge.emulator.controller.memory cimport AL_INVALID_INPUTS, AL_INVALID_OUTPUTS
from io_bridge.emulator.coe.object_dictionary cimport (
    MAP_INPUT, MAP_OUTPUT, MAX_MAPPED, Entry, Mapped, ObjectDictionary, is_pdo_mapping, mappable,
    od_find,
)
from io_bridge.wire.fields cimport get16, get32


cdef int resolve(ObjectDictionary *od, int assign, int access, Mapped *mapped,
                 int *n_mapped) noexcept nogil:
    """Follow one assignment object. Return the bytes mapped, or -1 when it does not resolve."""
    cdef Entry *count = od_find(od, assign, 0)
    cdef Entry *pdo
    cdef Entry *entry
    cdef int i, j, index
    cdef int bits = 0
    n_mapped[0] = 0
    if count == NULL:
        return 0
    for i in range(1, count.value[0] + 1):
        entry = od_find(od, assign, i)
        if entry == NULL:
            return -1
        index = get16(entry.value)
        pdo = od_find(od, index, 0)
        if pdo == NULL or not is_pdo_mapping(index):
            return -1
        for j in range(1, pdo.value[0] + 1):
            entry = od_find(od, index, j)
            if entry == NULL or n_mapped[0] >= MAX_MAPPED:
                return -1
            if not mappable(od, get32(entry.value), access, &mapped[n_mapped[0]]):
                return -1
            mapped[n_mapped[0]].whole = 0
            if mapped[n_mapped[0]].value != NULL and not (bits | mapped[n_mapped[0]].bits) & 7:
                mapped[n_mapped[0]].whole = mapped[n_mapped[0]].bits >> 3
            bits += mapped[n_mapped[0]].bits
            n_mapped[0] += 1
    return (bits + 7) >> 3


cdef int map_pdos(ObjectDictionary *od, int *n_outputs, int *n_inputs) noexcept nogil:
    """Resolve both assignments. Write the bytes of each direction; return 0 or the AL status code
    that refuses SAFEOP."""
    n_outputs[0] = resolve(od, 0x1C12, MAP_OUTPUT, od.outputs, &od.n_outputs)
    if n_outputs[0] < 0:
        return AL_INVALID_OUTPUTS
    n_inputs[0] = resolve(od, 0x1C13, MAP_INPUT, od.inputs, &od.n_inputs)
    return AL_INVALID_INPUTS if n_inputs[0] < 0 else 0


cdef inline void copy_bytes(uint8_t *to, const uint8_t *source, int n) noexcept nogil:
    """Copy n bytes; the sizes of numbers need no call."""
    if n == 4:
        memcpy(to, source, 4)
    elif n == 2:
        memcpy(to, source, 2)
    elif n == 1:
        to[0] = source[0]
    else:
        memcpy(to, source, n)


cdef void copy_bits(uint8_t *to, int to_bit, const uint8_t *source, int source_bit,
                    int n) noexcept nogil:
    """Copy n bits between any two places, whole bytes at once where both begin on a byte."""
    cdef int i, a, b
    if not (to_bit | source_bit | n) & 7:
        copy_bytes(to + (to_bit >> 3), source + (source_bit >> 3), n >> 3)
        return
    for i in range(n):
        a = to_bit + i
        b = source_bit + i
        if source[b >> 3] >> (b & 7) & 1:
            to[a >> 3] |= <uint8_t> (1 << (a & 7))
        else:
            to[a >> 3] &= <uint8_t> ~(1 << (a & 7))


cdef void take_outputs(ObjectDictionary *od, const uint8_t *data, int size) noexcept nogil:
    """From the output sync manager into the values."""
    cdef const Mapped *m = od.outputs
    cdef int at = 0
    cdef int _i
    for _i in range(od.n_outputs):
        if at + m.bits > 8 * size:
            return
        if m.whole:
            copy_bytes(m.value, data + (at >> 3), m.whole)
        elif m.value != NULL:
            copy_bits(m.value, 0, data, at, m.bits)
        at += m.bits
        m += 1


cdef void give_inputs(const ObjectDictionary *od, uint8_t *data, int size) noexcept nogil:
    """From the values into the input sync manager; padding is zero."""
    cdef const Mapped *m = od.inputs
    cdef int at = 0
    cdef int _i
    memset(data, 0, size)
    for _i in range(od.n_inputs):
        if at + m.bits > 8 * size:
            return
        if m.whole:
            copy_bytes(data + (at >> 3), m.value, m.whole)
        elif m.value != NULL:
            copy_bits(data, at, m.value, 0, m.bits)
        at += m.bits
        m += 1

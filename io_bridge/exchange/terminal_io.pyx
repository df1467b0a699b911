"""Channels of digital, analogue and encoder terminals: any number of bits at any bit, scaled."""
from libc.math cimport floor, isfinite
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memset


cdef int64_t get_bits(const uint8_t *data, const Channel *c) noexcept nogil:
    cdef uint64_t value = 0
    cdef int i
    for i in range(c.bits):
        value |= <uint64_t> (data[(c.bit + i) >> 3] >> ((c.bit + i) & 7) & 1) << i
    if c.is_signed and value >> (c.bits - 1):
        return <int64_t> value - (<int64_t> 1 << c.bits)
    return <int64_t> value


cdef void put_bits(uint8_t *data, const Channel *c, int64_t value) noexcept nogil:
    cdef int i
    for i in range(c.bits):
        if <uint64_t> value >> i & 1:
            data[(c.bit + i) >> 3] |= <uint8_t> (1 << ((c.bit + i) & 7))


cdef int terminal_pack(TerminalIo *t, uint8_t *out, int size, int live) noexcept nogil:
    """Fill `size` bytes of outputs, with zero where no command may leave. Return 1, and fill zeros, when a command is
    not a number."""
    cdef Channel *c
    cdef double value, least, most
    cdef int64_t number
    cdef int i
    memset(out, 0, size)
    if not live:
        t.moved = 0
    for i in range(t.n_outputs):
        c = &t.outputs[i]
        value = (c.cell[0] - c.offset) / c.scale
        if not isfinite(value):
            # nor may those beside it
            memset(out, 0, size)
            return 1
        if not live:
            continue
        least = -<double> (<int64_t> 1 << (c.bits - 1)) if c.is_signed else 0.0
        most = least + <double> ((<int64_t> 1 << c.bits) - 1)
        value = floor(value + 0.5)
        number = <int64_t> (least if value < least else most if value > most else value)
        t.moved |= number != 0
        put_bits(out, c, number)
    return 0


cdef void terminal_unpack(TerminalIo *t, const uint8_t *data) noexcept nogil:
    """Valid inputs into the terminal's cells."""
    cdef Channel *c
    cdef int i
    for i in range(t.n_inputs):
        c = &t.inputs[i]
        c.cell[0] = c.scale * <double> get_bits(data, c) + c.offset


cdef void fill_channel(Channel *c, config) except *:
    c.bit = config.bit
    c.bits = config.bits
    c.is_signed = config.signed
    c.scale = config.scale
    c.offset = config.offset


cdef void fill_terminal(TerminalIo *t, config) except *:
    """Channels of a TerminalConfig; their cells come later."""
    cdef int i
    t.resumes = config.after_fault == "resume"
    t.n_inputs = len(config.inputs)
    t.n_outputs = len(config.outputs)
    for i in range(t.n_inputs):
        fill_channel(&t.inputs[i], config.inputs[i])
    for i in range(t.n_outputs):
        fill_channel(&t.outputs[i], config.outputs[i])

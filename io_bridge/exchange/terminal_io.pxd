"""A terminal's part of a cycle: channels of bits, scaled to and from cells."""
from libc.stdint cimport uint8_t

cdef enum:
    MAX_CHANNELS = 32

cdef struct Channel:
    int bit                  # first, from the start of the inputs or outputs
    int bits                 # 1 to 32
    int is_signed
    double scale             # cell = scale * number + offset
    double offset
    double *cell

cdef struct TerminalIo:
    int slave                # its place among the slaves
    int resumes              # its outputs come back by themselves after a fault
    int moved                # an output that is not zero has left since they were let out
    int n_inputs
    int n_outputs
    Channel inputs[MAX_CHANNELS]
    Channel outputs[MAX_CHANNELS]

cdef int terminal_pack(TerminalIo *t, uint8_t *out, int size, int live) noexcept nogil
cdef void terminal_unpack(TerminalIo *t, const uint8_t *data) noexcept nogil
cdef void fill_terminal(TerminalIo *t, config) except *

"""Common ground of all observers: ports, channels of sensors, lost periods. Their state begins with `Cells`."""
from libc.stdint cimport int64_t

from estimators.numerics.arena cimport Arena
from rt_core.cycle_block cimport CycleBlock

cdef enum:
    MOST_LOST = 20          # periods that are made up for

ctypedef int (*advance_fn)(void *state) noexcept nogil
ctypedef void (*forget_fn)(void *state) noexcept nogil
ctypedef void (*lay_out_fn)(void *state, Arena *arena) noexcept

cdef struct SensorChannel:
    double scale            # sample = scale * reading + offset
    double offset
    int64_t every           # periods from sample to sample

cdef struct Cells:
    advance_fn advance      # one cycle: from `given` to `value`; returns the status of the block
    forget_fn forget        # what is left of an estimate after more than MOST_LOST lost periods; NULL: all
    bint is_lost            # the cycle is one that the loop lost
    int n_sensors           # that have a channel and a port for their valid flag
    int n_reads             # ports: samples of these sensors, their flags, all others
    int n_writes
    int n                   # states
    int64_t period_ns       # 0: lost periods are not looked for
    int64_t last_ns         # nominal time of the last cycle; -1: there was none
    int64_t n_periods       # since the start, lost ones too
    int64_t n_done          # predictions, and samples that were used: the work of the steps
    SensorChannel *channel  # (n_sensors)
    const double **read     # (n_reads)
    double **write          # (n_writes)
    double *idle            # (n_reads) value of an unconnected port
    double *given           # (n_reads - n_sensors) of this cycle: a sample of each sensor, NaN if none; all others
    double *value           # (n_writes)
    const double *cov       # (n, n)

cdef void lay_out_cells(Cells *c, Arena *arena) noexcept

cdef class EstimatorBlock(CycleBlock):
    cdef Cells *cells
    cdef void *memory
    cdef readonly tuple read_ports
    cdef readonly tuple write_ports
    cdef readonly dict parts
    cdef int set_channels(self, channels) except -1
    cdef int wire(
        self, str name, ports, dict parts, Cells *c, int64_t bytes, lay_out_fn lay_out, advance_fn advance) except -1

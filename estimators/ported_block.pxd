"""Common ground of the observer blocks: name, ports, capsule."""
from libc.stdint cimport int64_t

from rt_core.block cimport BlockView, step_fn

cdef enum:
    MOST_PORTS = 24

cdef struct Ports:
    const double *read[MOST_PORTS]
    double *write[MOST_PORTS]
    double value[MOST_PORTS]      # values written, of this cycle
    double idle[MOST_PORTS]       # value of a port that is not connected

cdef class WiredBlock:
    cdef BlockView view
    cdef const double **read_cells
    cdef double **write_cells
    cdef readonly str name
    cdef readonly dict reads
    cdef readonly dict writes
    cdef readonly tuple read_ports
    cdef readonly tuple write_ports
    cdef wire(
        self, str name, reads, writes, read_ports, write_ports, const double **read_cells,
        double **write_cells, step_fn step, void *state)
    cdef report(self, const int64_t *work, int64_t bytes)

cdef class PortedBlock(WiredBlock):
    cdef Ports ports
    cdef set_up(
        self, str name, reads, writes, read_ports, write_ports, needed, step_fn step, void *state)


cdef object square(const double *p, int n)

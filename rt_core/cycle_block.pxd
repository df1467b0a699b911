"""Common ground of the blocks that are written in Cython: name, ports, and the view behind their capsule."""
from libc.stdint cimport int64_t

from rt_core.block cimport BlockView, step_fn

cdef class CycleBlock:
    cdef readonly str name
    cdef readonly dict reads
    cdef readonly dict writes
    cdef BlockView view
    cdef void run_by(self, step_fn step, void *state, int64_t bytes)
    cdef int check_cells(self, reads, writes) except -1

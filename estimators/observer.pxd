"""What all observers are to Python; their state in the cycle is `observer_cycle.pxd`."""
from estimators.observer_cycle cimport ObserverState
from rt_core.block cimport BlockView

cdef class Observer:
    cdef ObserverState state
    cdef BlockView view
    cdef void *memory
    cdef readonly str name
    cdef readonly dict reads
    cdef readonly dict writes
    cdef readonly tuple read_ports
    cdef readonly tuple write_ports
    cdef readonly list start
    cdef readonly object model
    cdef bint is_dependent(self)
    cdef void attach(self)
    cdef void shape(self)
    cdef int _allocate(self) except -1
    cdef void _connect(self)

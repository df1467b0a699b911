"""The face of all observers to Python; their state in the cycle is in `cycle.pxd`."""
from estimators.closed_loop.cycle cimport ObserverState, correct_fn, predict_fn, restart_fn
from estimators.ported_block cimport WiredBlock

cdef class Observer(WiredBlock):
    cdef ObserverState state
    cdef void *memory
    cdef readonly list start
    cdef readonly object model
    cdef bint is_dependent(self)
    cdef void attach(self)
    cdef void take(self, predict_fn predict, correct_fn correct, restart_fn restart)
    cdef void shape(self)
    cdef int _allocate(self) except -1
    cdef void _connect(self)

cdef class DependentObserver(Observer):
    pass

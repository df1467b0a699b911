"""The face of all observers to Python; their state in the cycle is in `cycle.pxd`."""
from estimators.block cimport EstimatorBlock
from estimators.closed_loop.cycle cimport ObserverState, correct_fn, predict_fn, restart_fn

cdef class Observer(EstimatorBlock):
    cdef ObserverState state
    cdef readonly list start
    cdef readonly object model
    cdef bint is_dependent(self)
    cdef void attach(self)
    cdef void take(self, predict_fn predict, correct_fn correct, restart_fn restart)
    cdef void shape(self)

cdef class DependentObserver(Observer):
    pass

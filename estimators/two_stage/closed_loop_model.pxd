"""A generated model of a mechanism, as kinematic and force observers see one."""
from estimators.numerics.observed_model cimport MOST_SENSORS, ObservedModel
from estimators.closed_loop.model cimport ObserverModel

cdef struct ClosedLoop:
    ObserverModel *model
    int n_z
    int row[MOST_SENSORS]       # of each accelerometer in the model's readings

cdef class ClosedLoopModel:
    cdef ClosedLoop loop
    cdef ObservedModel view
    cdef readonly object model

"""Stage 1 of the two-stage observer: motion from positions and accelerations, without forces."""
from libc.stdint cimport int64_t

from estimators.block cimport Cells, EstimatorBlock
from estimators.numerics.estimate cimport Estimate
from estimators.numerics.observed_model cimport MOST_DOF, MOST_SENSORS, ObservedModel

cdef struct KinematicState:
    Cells cells
    Estimate estimate               # z, zd, zdd; gate of positions
    ObservedModel *model
    double period_s
    double *position_var            # (n_dof) of a sample of each position
    double *acceleration_var        # (n_sensors) of an acceleration, with the error of the geometry
    double *u                       # (n_sensors) newest accelerations
    double least_sensitivity        # below: constant acceleration
    double jerk_var                 # of a step of constant acceleration: (1/s^2)^2
    bint tracking
    int64_t n_guarded               # cycles too near to where the accelerometer is blind

cdef void observe(KinematicState *s, const double *position, const double *u) noexcept nogil

cdef class KinematicObserver(EstimatorBlock):
    cdef KinematicState state
    cdef object model

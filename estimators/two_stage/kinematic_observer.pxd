"""Stage 1 of the two-stage observer: motion from positions and accelerations, without forces."""
from estimators.numerics.small_covariance cimport MOST, MOST2, Gate
from estimators.numerics.observed_model cimport MOST_DOF, MOST_SENSORS, ObservedModel
from estimators.ported_block cimport PortedBlock, Ports

cdef struct KinematicState:
    ObservedModel *model
    Ports *ports
    double period_s
    double position_variance[MOST_DOF]          # of a sample of each position
    double acceleration_variance[MOST_SENSORS]  # of an acceleration, with the error of the geometry
    double least_sensitivity        # below: constant acceleration
    double jerk_variance            # of a step of constant acceleration: (1/s^2)^2
    double x[MOST]                  # z, zd, zdd
    double p[MOST2]
    double initial[MOST]            # variances at the first sample
    double u[MOST_SENSORS]          # newest accelerations
    Gate gate                       # of positions
    bint tracking
    double nis                      # of this cycle
    long n_guarded                  # cycles too near to where the accelerometer is blind
    long n_resets                   # covariance not positive definite: started again

cdef void observe(KinematicState *s, const double *position, const double *u) noexcept nogil

cdef class KinematicObserver(PortedBlock):
    cdef KinematicState state
    cdef object model
    cdef readonly int n_dof

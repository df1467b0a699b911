"""Single-stage augmented EKF: motion and unknown forces in one state."""
from estimators.numerics.small_covariance cimport MOST, MOST2
from estimators.numerics.observed_model cimport MOST_DOF, ObservedModel
from estimators.ported_block cimport PortedBlock, Ports

cdef struct AugmentedState:
    ObservedModel *model
    Ports *ports
    double period_s
    double position_variance
    double acceleration_variance
    double disturbance_variance     # of the acceleration of the model in a cycle
    double walk_variance            # of the random walk of a force in a cycle
    double x[MOST]                  # z, zd, F2
    double zdd[MOST_DOF]
    double p[MOST2]
    double initial[MOST]
    double known[MOST_DOF]          # of the cycle before
    bint tracking
    double nis
    long n_resets

cdef void observe(
    AugmentedState *s, const double *position, const double *u, const double *known
) noexcept nogil

cdef class AugmentedEkf(PortedBlock):
    cdef AugmentedState state
    cdef object model
    cdef readonly int n_dof

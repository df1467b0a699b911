"""Single-stage augmented EKF: motion and unknown forces in one state."""
from estimators.block cimport Cells, EstimatorBlock
from estimators.numerics.estimate cimport Estimate
from estimators.numerics.observed_model cimport MOST_DOF, ObservedModel

cdef struct AugmentedState:
    Cells cells
    Estimate estimate           # z, zd, F2
    ObservedModel *model
    double period_s
    double position_var
    double acceleration_var
    double disturbance_var      # of the acceleration of the model in a cycle
    double walk_var             # of the random walk of a force in a cycle
    double *zdd                 # (n_dof)
    double *known               # (n_dof) of the cycle before
    double *before              # (n) the prediction
    double *a_x                 # (n_dof, n) slopes of the accelerations
    double *u_x                 # (n_sensors, n) and of what the sensors read of them
    bint tracking

cdef void observe(
    AugmentedState *s, const double *position, const double *u, const double *known
) noexcept nogil

cdef class AugmentedEkf(EstimatorBlock):
    cdef AugmentedState state
    cdef object model

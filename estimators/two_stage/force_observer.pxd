"""Stage 2 of the two-stage observer: known and unknown forces from the motion of stage 1."""
from estimators.numerics.small_covariance cimport MOST, MOST2, Gate
from estimators.numerics.observed_model cimport MOST_DOF, ObservedModel
from estimators.ported_block cimport PortedBlock, Ports

cdef struct ForceState:
    ObservedModel *model
    Ports *ports
    bint is_form_a
    double known_variance[MOST_DOF]     # of a sample of a known force
    double balance_variance[MOST_DOF]   # of the results of the dynamics: of a known (A), unknown force (B)
    double walk_variance[MOST_DOF]      # of the random walk in a cycle: of an unknown (A), known (B)
    double least_pivot              # of the matrix that the form inverts; below: a random walk
    double x[MOST]                  # F1 (known), F2 (unknown)
    double p[MOST2]
    double initial[MOST]
    Gate gate                       # of known forces
    bint has_motion
    double nis
    long n_guarded
    long n_resets

cdef void observe(ForceState *s, const double *motion, const double *known) noexcept nogil

cdef class ForceObserver(PortedBlock):
    cdef ForceState state
    cdef object model
    cdef readonly int n_dof

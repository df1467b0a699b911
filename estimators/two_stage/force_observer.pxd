"""Stage 2 of the two-stage observer: known and unknown forces from the motion of stage 1."""
from libc.stdint cimport int64_t

from estimators.block cimport Cells, EstimatorBlock
from estimators.numerics.estimate cimport Estimate
from estimators.numerics.observed_model cimport MOST_DOF, ObservedModel

cdef struct ForceState:
    Cells cells
    Estimate estimate       # F1 (known), F2 (unknown); gate of known forces
    ObservedModel *model
    bint is_form_a
    double *known_var       # (n_dof) of a sample of a known force
    double *balance_var     # (n_dof) of the results of the dynamics: of a known (A), unknown force (B)
    double *walk_var        # (n_dof) of the random walk in a cycle: of an unknown (A), known (B)
    double least_pivot      # of the matrix that the form inverts; below: a random walk
    bint has_motion
    int64_t n_guarded

cdef void observe(ForceState *s, const double *motion, const double *known) noexcept nogil

cdef class ForceObserver(EstimatorBlock):
    cdef ForceState state
    cdef object model

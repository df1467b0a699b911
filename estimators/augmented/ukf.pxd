"""Augmented unscented Kalman filter: states and unknown inputs of any model, without derivatives."""
from libc.stdint cimport int64_t

from estimators.block cimport Cells, EstimatorBlock
from estimators.numerics.estimate cimport Estimate

cdef enum:
    UNSCENTED_ABI = 1

# x (n_x) moved over dt with the inputs u (n_u) held
ctypedef void (*transition_fn)(
    const void *model, const double *x, const double *u, double dt_s, double *out) noexcept nogil
# measured outputs at x: y (n_y)
ctypedef void (*measure_fn)(
    const void *model, const double *x, const double *u, double *out) noexcept nogil

cdef struct UnscentedModel:
    int64_t abi           # UNSCENTED_ABI of the side that made it
    int n_x               # with the unknown inputs, which do not change by themselves
    int n_u
    int n_y
    transition_fn transition
    measure_fn measure
    const void *model

cdef struct UkfState:
    Cells cells
    Estimate estimate
    UnscentedModel *model
    double period_s
    double *process_var     # (n_x) of a cycle
    double *sample_var      # (n_y)
    double *start           # (n_x)
    double *u               # (n_u) of the cycle before
    bint started
    # of a cycle; samples that are there come first
    double *points          # (2 n_x, n_x)
    double *at              # (n_x)
    double *expected        # (2 n_x, n_y)
    int *there              # (n_y) which outputs have a sample
    double *mean            # (n_y)
    double *innovation      # (n_y)
    double *pyy             # (n_y, n_y)
    double *cross           # (n_y, n_x)
    double *gain            # (n_y, n_x + 1)

cdef void observe(UkfState *s, const double *u, const double *y) noexcept nogil

cdef class AugmentedUkf(EstimatorBlock):
    cdef UkfState state
    cdef object model

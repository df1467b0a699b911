"""Augmented unscented Kalman filter: states and unknown inputs of any model, without derivatives."""
from libc.stdint cimport int64_t

from estimators.numerics.small_covariance cimport MOST, MOST2
from estimators.ported_block cimport PortedBlock, Ports

cdef enum:
    UNSCENTED_ABI = 1
    MOST_INPUTS = 4
    MOST_OUTPUTS = 8

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
    UnscentedModel *model
    Ports *ports
    double period_s
    double process[MOST]            # variances of a cycle
    double noise[MOST_OUTPUTS]      # variances of the samples
    double start[MOST]
    double initial[MOST]
    double x[MOST]
    double p[MOST2]
    double u[MOST_INPUTS]           # of the cycle before
    bint started
    double nis
    long n_resets

cdef void observe(UkfState *s, const double *u, const double *y) noexcept nogil

cdef class AugmentedUkf(PortedBlock):
    cdef UkfState state
    cdef object model

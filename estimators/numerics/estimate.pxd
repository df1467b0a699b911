"""The estimate of a filter that needs no more than x and P: samples, repair, and what all of them show.

Measurements with uncorrelated noise are taken one after the other: no matrix is ever inverted.
"""
from libc.math cimport fabs, isfinite
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from estimators.numerics.arena cimport Arena, doubles, integers
from estimators.numerics.covariance cimport cholesky, set_diagonal, take_row
from estimators.numerics.gate cimport Gate, admits

cdef struct Estimate:
    int n
    double *x               # (n)
    double *cov             # (n, n)
    double *start_var       # (n) variances of the start
    double *transition      # (n, n) room for that of a cycle
    double *row             # (n) room for the slope of a sensor
    double *work            # (n^2 + 3 n)
    Gate gate               # by state
    double nis              # squared innovations over their variances, summed, of this cycle
    int64_t n_repaired      # covariances that had to be begun again


cdef inline void lay_out_estimate(Estimate *e, int n, Arena *arena) noexcept:
    e.n = n
    e.x = doubles(arena, n)
    e.cov = doubles(arena, n * n)
    e.start_var = doubles(arena, n)
    e.transition = doubles(arena, n * n)
    e.row = doubles(arena, n)
    e.work = doubles(arena, n * n + 3 * n)
    e.gate.n_refused = integers(arena, n)


cdef inline void take(Estimate *e, const double *slope, double innovation, double variance) noexcept nogil:
    e.nis += innovation * innovation / take_row(e.x, e.cov, slope, innovation, variance, e.work, e.n)


cdef inline void take_state(Estimate *e, int i, double sample, double variance) noexcept nogil:
    # a sample of state i itself, if there is one and the gate lets it in
    cdef double innovation = sample - e.x[i]
    if not isfinite(sample) or not admits(
            &e.gate, i, innovation * innovation / (variance + e.cov[i * e.n + i])):
        return
    memset(e.row, 0, e.n * sizeof(double))
    e.row[i] = 1.0
    take(e, e.row, innovation, variance)


cdef inline bint all_bounded(const double *values, int n) noexcept nogil:
    # finite, and so are their squares
    cdef int i
    for i in range(n):
        if not fabs(values[i]) < 1e150:
            return False
    return True


cdef inline void begin_again(Estimate *e) noexcept nogil:
    set_diagonal(e.cov, e.start_var, e.n)


cdef inline void repair(Estimate *e) noexcept nogil:
    if cholesky(e.cov, e.work, e.n) < e.n:
        begin_again(e)
        e.n_repaired += 1


cdef inline double *show(const Estimate *e, double *value) noexcept nogil:
    # x, nis, repaired; returns where the next value goes
    memcpy(value, e.x, e.n * sizeof(double))
    value[e.n], value[e.n + 1] = e.nis, <double>e.n_repaired
    return value + e.n + 2

"""The same for estimates small enough for the stack, at most `MOST` states: no cells to work in.

Measurements with uncorrelated noise are taken one after the other: no matrix is ever inverted.
"""
from libc.math cimport fabs, isfinite
from libc.stdint cimport int64_t

from estimators.numerics cimport covariance

cdef enum:
    MOST = 12           # states
    MOST2 = 144

cdef struct Gate:
    double limit                # squared innovation over its variance above which a sample is rejected; 0: never
    int64_t patience            # rejected in a row until the next one is taken
    int64_t n_refused[MOST]     # in a row, of samples of each state
    int64_t n_rejected          # in all
    int used                    # samples of this cycle that went in


cdef inline void propagate(double *p, const double *f, int n) noexcept nogil:
    # P <- F P F'; the observer adds the process noise
    cdef double work[MOST2]
    covariance.propagate(p, f, NULL, work, n)


cdef inline double take_scalar(
    double *x, double *p, const double *h, double innovation, double variance, int n
) noexcept nogil:
    # x <- x + K innovation, P by Joseph's form; returns the innovation's variance
    cdef double ph[MOST]
    cdef double gain[MOST]
    cdef double work[MOST2 + MOST]
    cdef double s = variance + covariance.project(p, h, ph, n)
    cdef int i
    for i in range(n):
        gain[i] = ph[i] / s
        x[i] += gain[i] * innovation
    covariance.joseph(p, h, gain, ph, variance, work, n)
    return s


cdef inline double take_state(
    double *x, double *p, int i, double sample, double variance, int n
) noexcept nogil:
    # a sample of state i itself; returns the normalised innovation squared
    cdef double h[MOST]
    cdef double innovation = sample - x[i]
    cdef int j
    for j in range(n):
        h[j] = 1.0 if j == i else 0.0
    return innovation * innovation / take_scalar(x, p, h, innovation, variance, n)


cdef inline double take_gated(
    double *x, double *p, int i, double sample, double variance, int n, Gate *gate
) noexcept nogil:
    # the same, if it is a sample and the gate lets it in; 0 if not
    cdef double innovation = sample - x[i]
    if not isfinite(sample):
        return 0.0
    if (gate.limit > 0.0 and not innovation * innovation <= gate.limit * (variance + p[i * n + i])
            and gate.n_refused[i] < gate.patience):
        gate.n_refused[i] += 1
        gate.n_rejected += 1
        return 0.0
    gate.n_refused[i] = 0
    gate.used += 1
    return take_state(x, p, i, sample, variance, n)


cdef inline bint all_bounded(const double *values, int n) noexcept nogil:
    # finite, and so are their squares
    cdef int i
    for i in range(n):
        if not fabs(values[i]) < 1e150:
            return False
    return True


cdef inline void set_diagonal(double *p, const double *diagonal, int n) noexcept nogil:
    cdef int i
    for i in range(n * n):
        p[i] = 0.0
    for i in range(n):
        p[i * n + i] = diagonal[i]


cdef inline bint begin_anew(double *p, const double *initial, int n) noexcept nogil:
    # mend a covariance that is no longer positive definite; return whether it was so
    cdef double root[MOST2]
    if covariance.cholesky(p, root, n) == n:
        return False
    set_diagonal(p, initial, n)
    return True

"""Observers whose state is all coordinates and rates, x = [q, qd], as if they were independent.

The mechanism's mobility enters through the noise: along its motions as in the other filters, across them by `open`,
so that constraints can close the gaps that the prediction opens,

    Q = R S R^T + open (I - U U^T),   U an orthonormal base of R = vel_map
"""
from libc.math cimport sqrt
from libc.string cimport memcpy, memset

from estimators.numerics.covariance cimport propagate
from estimators.closed_loop.cycle cimport ObserverState
from estimators.closed_loop.model cimport ObserverModel


cdef inline void spread(
    ObserverState *s, double *block, const double *variance, double open, double scale,
) noexcept nogil:
    # one (n_q, n_q) block within rows of n, with variance[j] * scale along motion j
    cdef ObserverModel *m = s.model
    cdef int i, j, k, n = s.n, n_q = <int>m.n_q, n_z = <int>m.n_z
    cdef double sum
    cdef double *base = s.work      # (n_z, n_q)
    memcpy(base, m.vel_map, n_z * n_q * sizeof(double))
    for j in range(n_z):
        for k in range(j):
            sum = 0.0
            for i in range(n_q):
                sum += base[j * n_q + i] * base[k * n_q + i]
            for i in range(n_q):
                base[j * n_q + i] -= sum * base[k * n_q + i]
        sum = 0.0
        for i in range(n_q):
            sum += base[j * n_q + i] * base[j * n_q + i]
        sum = 1.0 / sqrt(sum)
        for i in range(n_q):
            base[j * n_q + i] *= sum
    for i in range(n_q):
        for k in range(n_q):
            sum = open if i == k else 0.0
            for j in range(n_z):
                sum += scale * variance[j] * m.vel_map[j * n_q + i] * m.vel_map[j * n_q + k]
                sum -= open * base[j * n_q + i] * base[j * n_q + k]
            block[i * n + k] = sum


cdef inline int step_dependent(ObserverState *s, double open) noexcept nogil:
    """Forward Euler of coordinates and rates, and of their covariance."""
    cdef ObserverModel *m = s.model
    cdef int i, n = s.n, n_q = <int>m.n_q
    cdef double h = s.step_s
    cdef int status = m.accelerate_at(m.self, s.x, s.x + n_q)
    if status != 0:
        return status
    memset(s.proc_cov, 0, n * n * sizeof(double))
    spread(s, s.proc_cov, s.density, open, h * h * h / 3.0)
    spread(s, s.proc_cov + n_q * n + n_q, s.density, open, h)
    for i in range(n_q):
        s.x[i] += h * s.x[n_q + i]
        s.x[n_q + i] += h * m.qdd[i]
    propagate(s.cov, s.transition, s.proc_cov, s.work, n)
    return 0


cdef inline int restart_dependent(ObserverState *s, const double *x, double open) noexcept nogil:
    """Coordinates and rates of a state of the model, and the covariance that belongs to its own."""
    cdef ObserverModel *m = s.model
    cdef int n = s.n, n_q = <int>m.n_q, n_z = <int>m.n_z
    cdef int status = m.begin(m.self, x)
    memcpy(s.x, m.q, n_q * sizeof(double))
    memcpy(s.x + n_q, m.qd, n_q * sizeof(double))
    memset(s.start_cov, 0, n * n * sizeof(double))
    spread(s, s.start_cov, s.start_var, open, 1.0)
    spread(s, s.start_cov + n_q * n + n_q, s.start_var + n_z, open, 1.0)
    memcpy(s.cov, s.start_cov, n * n * sizeof(double))
    return status

"""projectionEKF: extended Kalman filter on all coordinates as if they were independent, then projected.

    q <- q - J^T (J J^T)^-1 phi, iterated;   qd <- S qd,   P <- S P S^T of q and qd,   S = I - J^T (J J^T)^-1 J

Rejected by its authors: sensors correct some coordinates only, and the projection then undoes most of it. Here for
the comparison.
"""
from libc.math cimport fabs
from libc.string cimport memcpy, memset

from estimators.numerics.covariance cimport project, propagate
from estimators.closed_loop.dependent cimport restart_dependent, step_dependent
from estimators.closed_loop.observer cimport DependentObserver, Observer
from estimators.closed_loop.cycle cimport ObserverState, fold_scalars, simple_transition
from estimators.closed_loop.model cimport ObserverModel

cdef enum:
    CLOSINGS = 6

cdef double CLOSED = 1e-10      # violation at which a position counts as closed
cdef double LOST = 1e-14        # squared length of a row that others imply


cdef double _narrow(double *left_over, const double *row, double *along, int n) noexcept nogil:
    # left_over <- left_over - along along^T / length, the projector without one more row; returns that length
    cdef int i, j
    cdef double length = project(left_over, row, along, n)
    if length > LOST:
        for i in range(n):
            for j in range(n):
                left_over[i * n + j] -= along[i] * along[j] / length
    return length


cdef int _close(ObserverState *s) noexcept nogil:
    cdef ObserverModel *m = s.model
    cdef int i, j, r, _closing, status, n = s.n, n_q = <int>m.n_q
    cdef double *left_over = s.work
    cdef double *along = s.work + n_q * n_q
    cdef double *projector
    cdef double *none
    cdef double worst, length, miss
    for _closing in range(CLOSINGS):
        status = m.constrain(m.self, s.x, s.x + n_q)
        if status != 0:
            return status
        memset(left_over, 0, n_q * n_q * sizeof(double))
        for i in range(n_q):
            left_over[i * n_q + i] = 1.0
        memset(s.dx, 0, n * sizeof(double))
        worst = 0.0
        for r in range(<int>m.n_phi):
            worst = max(worst, fabs(m.phi[r]))
            length = _narrow(left_over, m.phi_q + r * n_q, along, n_q)
            if length <= LOST:
                continue
            miss = -m.phi[r]
            for i in range(n_q):
                miss -= m.phi_q[r * n_q + i] * s.dx[i]
            for i in range(n_q):
                s.dx[i] += along[i] * miss / length
        if worst < CLOSED:
            break
        for i in range(n_q):
            s.x[i] += s.dx[i]
    # rates: their residual; dx as room
    for i in range(n_q):
        s.dx[i] = 0.0
        for j in range(n_q):
            s.dx[i] += left_over[i * n_q + j] * s.x[n_q + j]
    memcpy(s.x + n_q, s.dx, n_q * sizeof(double))
    # covariance of a state that has been projected
    projector, none = s.work + n * n, s.work + 2 * n * n
    memset(projector, 0, 2 * n * n * sizeof(double))
    for i in range(n_q):
        for j in range(n_q):
            projector[i * n + j] = left_over[i * n_q + j]
            projector[(n_q + i) * n + n_q + j] = left_over[i * n_q + j]
    propagate(s.cov, projector, none, s.work, n)
    return 0


cdef int _predict(ObserverState *s) noexcept nogil:
    cdef int status = step_dependent(s, 0.0)
    return status if status != 0 else _close(s)


cdef int _correct(ObserverState *s, const double *sample) noexcept nogil:
    cdef ObserverModel *m = s.model
    cdef int i, n = s.n, n_q = <int>m.n_q
    cdef int status = m.constrain(m.self, s.x, s.x + n_q)
    if status != 0:
        return status
    s.reading = m.y
    for i in range(s.n_y):
        memcpy(s.slope + i * n, m.y_q + i * n_q, n_q * sizeof(double))
        memcpy(s.slope + i * n + n_q, m.y_qd + i * n_q, n_q * sizeof(double))
    fold_scalars(s, sample)
    for i in range(n):
        s.x[i] += s.dx[i]
    return _close(s)


cdef int _restart(ObserverState *s, const double *x) noexcept nogil:
    simple_transition(s)
    return restart_dependent(s, x, 0.0)


cdef class ProjectionEkf(DependentObserver):
    __doc__ = Observer.__doc__
    published = "projectionEKF"

    cdef void attach(self):
        self.take(_predict, _correct, _restart)

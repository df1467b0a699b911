"""DIEKFpm: iterated extended Kalman filter on all coordinates; constraints are perfect measurements.

    x = [q, qd],   h'(x) = [h, phi, phi_dot],   observed value of the constraints: zero, without noise

The update, in each step, with or without samples, is iterated: slopes are taken again at its result.
"""
from libc.math cimport fabs
from libc.string cimport memcpy, memset

from estimators.numerics.covariance cimport take_row
from estimators.closed_loop.dependent cimport restart_dependent, step_dependent
from estimators.closed_loop.observer cimport DependentObserver, Observer
from estimators.closed_loop.cycle cimport ObserverState, simple_transition
from estimators.closed_loop.model cimport ObserverModel

cdef enum:
    MOST = 4            # iterations of an update

cdef double PERFECT = 1e-12     # variance of a constraint: round-off of its value
cdef double OPEN = 1e-2         # variance across the motions that a step adds, m^2 and (m/s)^2
cdef double SMALL = 1e-7        # change of a state at which an update counts as done


cdef double _fold(ObserverState *s, const double *h, double left, double variance) noexcept nogil:
    # one row; `left` is its residual before dx; returns its squared innovation over the variance
    cdef int i
    for i in range(s.n):
        left -= h[i] * s.dx[i]
    return left * left / take_row(s.dx, s.cov, h, left, variance, s.work, s.n)


cdef int _update(ObserverState *s, const double *sample) noexcept nogil:
    cdef ObserverModel *m = s.model
    cdef int i, r, trial, status, n = s.n, n_q = <int>m.n_q
    cdef double *cov = s.work + 2 * n * n + n     # of the prediction
    cdef double *x = cov + n * n                  # of the prediction
    cdef double *h = x + n
    cdef double change, left, moved
    memcpy(cov, s.cov, n * n * sizeof(double))
    memcpy(x, s.x, n * sizeof(double))
    for trial in range(MOST):
        status = m.constrain(m.self, s.x, s.x + n_q)
        if status != 0:
            return status
        memcpy(s.cov, cov, n * n * sizeof(double))
        memset(s.dx, 0, n * sizeof(double))
        s.nis = 0.0
        s.gate.used = 0
        # constraints first: the prediction then is a motion of the mechanism
        for r in range(<int>m.n_phi):
            memset(h, 0, n * sizeof(double))
            memcpy(h, m.phi_q + r * n_q, n_q * sizeof(double))
            left = -m.phi[r]
            for i in range(n):
                left -= h[i] * (x[i] - s.x[i])
            _fold(s, h, left, PERFECT)
            memcpy(h, m.phi_dot_q + r * n_q, n_q * sizeof(double))
            memcpy(h + n_q, m.phi_q + r * n_q, n_q * sizeof(double))
            left = -m.phi_dot[r]
            for i in range(n):
                left -= h[i] * (x[i] - s.x[i])
            _fold(s, h, left, PERFECT)
        for r in range(s.n_y):
            if not sample[r] == sample[r]:
                continue
            memcpy(h, m.y_q + r * n_q, n_q * sizeof(double))
            memcpy(h + n_q, m.y_qd + r * n_q, n_q * sizeof(double))
            left = sample[r] - m.y[r]
            for i in range(n):
                left -= h[i] * (x[i] - s.x[i])
            if trial == 0:
                s.innovation[r] = left
            s.nis += _fold(s, h, left, s.meas_var[r])
            s.gate.used += 1
        change = 0.0
        for i in range(n):
            moved = x[i] + s.dx[i]
            change = max(change, fabs(moved - s.x[i]))
            s.x[i] = moved
        if change < SMALL:
            break
    return 0


cdef int _predict(ObserverState *s) noexcept nogil:
    cdef int status = step_dependent(s, OPEN)
    return status if status != 0 else _update(s, s.cells.given)


cdef int _correct(ObserverState *s, const double *sample) noexcept nogil:
    return 0    # within `predict`: constraints are measured in every step


cdef int _restart(ObserverState *s, const double *x) noexcept nogil:
    simple_transition(s)
    return restart_dependent(s, x, OPEN)


cdef class DiekfPm(DependentObserver):
    __doc__ = Observer.__doc__
    published = "DIEKFpm"

    cdef void attach(self):
        self.take(_predict, _correct, _restart)

"""CEKF: continuous extended Kalman filter (Kalman-Bucy) on independent coordinates, trapezoidal rule.

    xdot = f(x) + K (o - h(x)),   K = P h_x^T R^-1,   Pdot = A P + P A^T + S - P h_x^T R^-1 h_x P

A sample acts during its step only, with its variance taken for a density, as published: this makes it
filter the worst of the family. The slopes A are exact (the printed ones are not), and x solves

    x = x_k + h/2 (f_k + f + K_k e_k + K e),   e = o - h(x)

by `NEWTON` corrections with the exact tangent I - h/2 (A - K h_x). The Riccati equation is split into a prediction
and, since noise of density R sampled each h has variance R / h, a Joseph update: to first order in h the same, and
positive definite for every step.

Source: Kalman and Bucy 1961; Cuadrado, Dopico, Perez, Pastorino 2012, Multibody System Dynamics 27.
"""
from libc.math cimport fabs
from libc.string cimport memset

from estimators.numerics.covariance cimport project, propagate, take_row
from estimators.numerics.linear_solve cimport solve
from estimators.closed_loop.observer cimport Observer
from estimators.closed_loop.cycle cimport ObserverState, exact_transition, restart_independent
from estimators.closed_loop.model cimport ObserverModel

cdef enum:
    NEWTON = 4

cdef double SMALL = 1e-10   # correction of a state at which the rule counts as solved


cdef void _flow(ObserverState *s, const double *x, double *rate) noexcept nogil:
    cdef int j, half = <int>s.model.n_z
    memset(rate, 0, s.n * sizeof(double))
    for j in range(half):
        rate[j] = x[half + j]
        rate[half + j] = s.model.zdd[j]


cdef void _pull(ObserverState *s, const double *sample, double *rate) noexcept nogil:
    # rate += K (o - h) at the model's state
    cdef int i, j, n = s.n
    cdef double left
    for i in range(s.n_y):
        if not sample[i] == sample[i]:
            continue
        project(s.cov, s.model.y_x + i * n, s.ph, n)
        left = (sample[i] - s.model.y[i]) / s.meas_var[i]
        for j in range(n):
            rate[j] += s.ph[j] * left


cdef void _tangent(ObserverState *s, const double *sample, double *a) noexcept nogil:
    # I - h/2 (A - K h_x)
    cdef int i, j, k, n = s.n, half = <int>s.model.n_z
    cdef double h = 0.5 * s.step_s
    memset(a, 0, n * n * sizeof(double))
    for i in range(n):
        a[i * n + i] = 1.0
    for i in range(half):
        a[i * n + half + i] -= h
        for j in range(n):
            a[(half + i) * n + j] -= h * s.model.zdd_x[i * n + j]
    for k in range(s.n_y):
        if not sample[k] == sample[k]:
            continue
        project(s.cov, s.model.y_x + k * n, s.ph, n)
        for i in range(n):
            for j in range(n):
                a[i * n + j] += h * s.ph[i] * s.model.y_x[k * n + j] / s.meas_var[k]


cdef int _look(ObserverState *s, const double *x) noexcept nogil:
    cdef ObserverModel *m = s.model
    cdef int status = m.place(m.self, x)
    if status == 0:
        status = m.linearise(m.self)
    if status == 0:
        status = m.sense_slopes(m.self)
    return status


cdef int _advance(ObserverState *s, const double *sample) noexcept nogil:
    # one step with the samples of it, none in `predict`
    cdef int i, _trial, n = s.n, status = _look(s, s.x_before)
    cdef double worst
    cdef double *a = s.work
    cdef double *begin = s.work + 2 * n * n + n
    cdef double *rate = begin + n
    cdef double *rest = rate + n
    if status != 0:
        return status
    _flow(s, s.x_before, begin)
    _pull(s, sample, begin)
    # covariance of the step, with the slopes of its start
    exact_transition(s)
    propagate(s.cov, s.transition, s.proc_cov, s.work, n)
    for i in range(s.n_y):
        if not sample[i] == sample[i]:
            continue
        # for the covariance alone: nothing moves by an innovation of zero
        take_row(s.dx, s.cov, s.model.y_x + i * n, 0.0, s.meas_var[i] / s.step_s, s.work, n)
    for i in range(n):
        s.x[i] = s.x_before[i] + s.step_s * begin[i]
    for _trial in range(NEWTON):
        status = _look(s, s.x)
        if status != 0:
            return status
        _flow(s, s.x, rate)
        _pull(s, sample, rate)
        for i in range(n):
            rest[i] = s.x_before[i] + 0.5 * s.step_s * (begin[i] + rate[i]) - s.x[i]
        _tangent(s, sample, a)
        if not solve(a, rest, n, 1, 0.0):
            return 5
        worst = 0.0
        for i in range(n):
            s.x[i] += rest[i]
            worst = max(worst, fabs(rest[i]))
        if worst < SMALL:
            break
    return 0


cdef int _predict(ObserverState *s) noexcept nogil:
    return _advance(s, s.cells.given)


cdef int _correct(ObserverState *s, const double *sample) noexcept nogil:
    # samples act within the step: here only their innovations after it are reported
    cdef int i, n = s.n
    cdef double variance
    for i in range(s.n_y):
        if sample[i] == sample[i]:
            s.innovation[i] = sample[i] - s.model.y[i]
            variance = s.meas_var[i] + project(s.cov, s.model.y_x + i * n, s.ph, n)
            s.nis += s.innovation[i] * s.innovation[i] / variance
            s.gate.used += 1
    return 0


cdef class Cekf(Observer):
    __doc__ = Observer.__doc__
    published = "CEKF"
    implicit = True

    cdef void attach(self):
        self.take(_predict, _correct, restart_independent)

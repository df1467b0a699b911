"""DEKF: discrete extended Kalman filter on independent coordinates, forward Euler.

    z <- z + h zd,   zd <- zd + h zdd(z, zd, f),   P <- F P F^T + Q
"""
# compiled with -fno-tree-slp-vectorize -fno-tree-loop-distribute-patterns, as `closed_loop.cycle` is

from estimators.closed_loop.observer cimport Observer
from estimators.closed_loop.cycle cimport ObserverState, fold_scalars, grow, restart_independent
from estimators.closed_loop.model cimport ObserverModel


cdef int _predict(ObserverState *s) noexcept nogil:
    cdef ObserverModel *m = s.model
    cdef int j, half = <int>m.n_z
    cdef int status = m.place(m.self, s.x)
    if status == 0:
        status = m.linearise(m.self) if s.is_exact else m.accelerate(m.self)
    if status != 0:
        return status
    for j in range(half):
        s.x[j] += s.step_s * s.x[half + j]
        s.x[half + j] += s.step_s * m.zdd[j]
    grow(s)
    return 0


cdef int _correct(ObserverState *s, const double *sample) noexcept nogil:
    cdef ObserverModel *m = s.model
    cdef int i
    cdef int status = m.place(m.self, s.x)
    if status == 0:
        status = m.sense_slopes(m.self)
    if status != 0:
        return status
    s.reading = m.y
    s.slope = m.y_x
    fold_scalars(s, sample)
    for i in range(s.n):
        s.x[i] += s.dx[i]
    return 0


cdef class Dekf(Observer):
    __doc__ = Observer.__doc__
    published = "DEKF"

    cdef void attach(self):
        self.take(_predict, _correct, restart_independent)

"""DEKF: discrete extended Kalman filter on independent coordinates, forward Euler, or exact for a linear mechanism.

    z <- z + h zd,   zd <- zd + h zdd(z, zd, f),   P <- F P F^T + Q
    x <- x + int_0^h e^(A t) dt [zd, zdd, 0],      P <- F P F^T + Q by van_loan
"""
# compiled with -fno-tree-slp-vectorize -fno-tree-loop-distribute-patterns, as `closed_loop.cycle` is

from estimators.closed_loop.observer cimport Observer
from estimators.closed_loop.cycle cimport (
    ObserverState, find_slopes, fold_scalars, grow, move, restart_independent,
)
from estimators.closed_loop.model cimport ObserverModel


cdef int _predict(ObserverState *s) noexcept nogil:
    cdef ObserverModel *m = s.model
    cdef int status = m.place(m.self, s.x)
    if status == 0:
        status = find_slopes(s)
    if status == 0 and (s.is_held or not s.is_exact):
        status = m.accelerate(m.self)
    if status != 0:
        return status
    move(s, s.x)
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
    discretises = True

    cdef void attach(self):
        self.take(_predict, _correct, restart_independent)

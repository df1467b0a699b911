"""errorEKF: an extended Kalman filter of the *error* of the mechanism's ALI3-P kernel, which it leaves alone.

The kernel runs as it does without an observer. Each step the expected error is zero and its covariance grows; a sample
gives an error, and the kernel's coordinates take it by two linear problems: dq = vel_map dz, and the rates of zd + dzd
turned along it. Constraints stay open by the square of dz, which the kernel's next step closes;
after a correction so large that it would not (1e-5 m) they are closed at once, by bounded newton, and rates found
there.
"""
# compiled with -fno-tree-slp-vectorize -fno-tree-loop-distribute-patterns, as `closed_loop.cycle` is
from estimators.closed_loop.observer cimport Observer
from estimators.closed_loop.cycle cimport ObserverState, find_slopes, fold_scalars, grow
from estimators.closed_loop.model cimport ObserverModel


cdef int _predict(ObserverState *s) noexcept nogil:
    cdef ObserverModel *m = s.model
    cdef int status = find_slopes(s)
    if status == 0:
        status = m.kernel_step(m.self)
    if status != 0:
        return status
    m.follow(m.self, s.x)
    grow(s)
    return 0


cdef int _correct(ObserverState *s, const double *sample) noexcept nogil:
    cdef ObserverModel *m = s.model
    cdef int i, status = m.sense_slopes(m.self)
    if status != 0:
        return status
    s.reading = m.y
    s.slope = m.y_x
    if fold_scalars(s, sample) == 0:
        return 0
    for i in range(s.n):
        s.x[i] += s.dx[i]
    return m.nudge(m.self, s.dx)


cdef int _restart(ObserverState *s, const double *x) noexcept nogil:
    cdef int status = s.model.kernel_start(s.model.self, x)
    s.model.follow(s.model.self, s.x)
    return status


cdef class ErrorEkf(Observer):
    __doc__ = Observer.__doc__
    published = "errorEKF"
    discretises = True

    cdef void attach(self):
        self.take(_predict, _correct, _restart)

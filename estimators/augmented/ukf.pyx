"""Augmented unscented Kalman filter: states and unknown inputs of any model, without derivatives.

    points  chi = x +- columns of sqrt(n P),  weights 1 / 2n
    x-  = sum W f(chi),   P- = Q + sum W (f(chi) - x-)(.)'
    points  chi- = x- +- columns of sqrt(n P-)
    y-  = sum W h(chi-),  Pyy = R + ...,  Pxy = ...,  K = Pxy Pyy^-1
    x+  = x- + K (y - y-),  P+ = P- - K Pyy K'

The unknown inputs are states that walk at random. Printed forms that leave out sqrt(n), or measure
at the points before the transition, are wrong. The points f(chi) must not be measured either: they
lack Q, so Pyy and Pxy miss the process noise, and the filter trusts itself far too much.
"""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport isfinite, sqrt
from libc.string cimport memcpy

from estimators.block cimport lay_out_cells
from estimators.numerics.arena cimport Arena, doubles, places
from estimators.numerics.covariance cimport cholesky
from estimators.numerics.estimate cimport all_bounded, begin_again, lay_out_estimate, repair, show
from estimators.numerics.linear_solve cimport solve

import numpy as np

from rt_core.block import wrong_ports


cdef void _lay_out(void *state, Arena *arena) noexcept:
    cdef UkfState *s = <UkfState *>state
    cdef size_t n = s.model.n_x, m = s.model.n_y
    lay_out_cells(&s.cells, arena)
    lay_out_estimate(&s.estimate, s.model.n_x, arena)
    s.process_var = doubles(arena, n)
    s.sample_var = doubles(arena, m)
    s.start = doubles(arena, n)
    s.u = doubles(arena, s.model.n_u)
    s.points = doubles(arena, 2 * n * n)
    s.at = doubles(arena, n)
    s.expected = doubles(arena, 2 * n * m)
    s.there = places(arena, m)
    s.mean = doubles(arena, m)
    s.innovation = doubles(arena, m)
    s.pyy = doubles(arena, m * m)
    s.cross = doubles(arena, m * n)
    s.gain = doubles(arena, m * (n + 1))


cdef bint _draw(UkfState *s) noexcept nogil:
    # x +- columns of sqrt(n P); false without a root
    cdef int n = s.model.n_x, i, j
    cdef double *root = s.estimate.work
    cdef double step, spread = sqrt(<double>n)
    if cholesky(s.estimate.cov, root, n) < n:
        return False
    for j in range(n):
        for i in range(n):
            # the root is lower triangular
            step = spread * root[i * n + j] if i >= j else 0.0
            s.points[j * n + i] = s.estimate.x[i] + step
            s.points[(n + j) * n + i] = s.estimate.x[i] - step
    return True


cdef bint _predict(UkfState *s) noexcept nogil:
    # mean and covariance of the points, moved; false without a root
    cdef int n = s.model.n_x, i, j, k
    cdef double *x = s.estimate.x
    cdef double *cov = s.estimate.cov
    cdef double *point
    cdef double total
    if not _draw(s):
        return False
    for k in range(2 * n):
        point = s.points + k * n
        memcpy(s.at, point, n * sizeof(double))
        s.model.transition(s.model.model, s.at, s.u, s.period_s, point)
    for i in range(n):
        total = 0.0
        for k in range(2 * n):
            total += s.points[k * n + i]
        x[i] = total / (2 * n)
    for i in range(n):
        for j in range(i, n):
            total = 0.0
            for k in range(2 * n):
                point = s.points + k * n
                total += (point[i] - x[i]) * (point[j] - x[j])
            cov[i * n + j] = cov[j * n + i] = total / (2 * n) + (s.process_var[i] if i == j else 0.0)
    return True


cdef void _correct(UkfState *s, const double *u, const double *y) noexcept nogil:
    cdef int n = s.model.n_x, n_y = s.model.n_y, m = 0, i, j, k
    cdef double *x = s.estimate.x
    cdef double *cov = s.estimate.cov
    cdef double *gain = s.gain      # [Pyx, innovation], then Pyy^-1 of it
    cdef double *read
    cdef double total
    for i in range(n_y):
        if isfinite(y[i]):
            s.there[m] = i
            m += 1
    # drawn again about the prediction, so that they spread by the process noise too
    if m == 0 or not _draw(s):
        return
    for k in range(2 * n):
        s.model.measure(s.model.model, s.points + k * n, u, s.expected + k * n_y)
    for i in range(m):
        total = 0.0
        for k in range(2 * n):
            total += s.expected[k * n_y + s.there[i]]
        s.mean[i] = total / (2 * n)
        s.innovation[i] = y[s.there[i]] - s.mean[i]
    for i in range(m):
        for j in range(m):
            total = 0.0
            for k in range(2 * n):
                read = s.expected + k * n_y
                total += (read[s.there[i]] - s.mean[i]) * (read[s.there[j]] - s.mean[j])
            s.pyy[i * m + j] = total / (2 * n) + (s.sample_var[s.there[i]] if i == j else 0.0)
        for j in range(n):
            total = 0.0
            for k in range(2 * n):
                total += (s.expected[k * n_y + s.there[i]] - s.mean[i]) * (s.points[k * n + j] - x[j])
            s.cross[i * n + j] = gain[i * (n + 1) + j] = total / (2 * n)
        gain[i * (n + 1) + n] = s.innovation[i]
    if not solve(s.pyy, gain, m, n + 1, 0.0):
        return
    for i in range(m):
        s.estimate.nis += s.innovation[i] * gain[i * (n + 1) + n]
    for j in range(n):
        for i in range(m):
            x[j] += gain[i * (n + 1) + j] * s.innovation[i]
        for k in range(j, n):
            # K Pyy K' = Pxy Pyy^-1 Pyx
            total = 0.0
            for i in range(m):
                total += s.cross[i * n + j] * gain[i * (n + 1) + k]
            cov[j * n + k] -= total
            cov[k * n + j] = cov[j * n + k]


cdef void observe(UkfState *s, const double *u, const double *y) noexcept nogil:
    """One cycle: predict with the inputs of the last one, correct by all that is measured."""
    cdef int i
    s.estimate.nis = 0.0
    if s.started:
        if _predict(s):
            _correct(s, u, y)
        # about the newest estimate, and counted; one that has overflowed starts over
        repair(&s.estimate)
        if not all_bounded(s.estimate.x, s.model.n_x):
            memcpy(s.estimate.x, s.start, s.model.n_x * sizeof(double))
            begin_again(&s.estimate)
    s.started = True
    for i in range(s.model.n_u):
        # an input that is missing is the last one again
        if isfinite(u[i]):
            s.u[i] = u[i]


cdef int _advance(void *state) noexcept nogil:
    cdef UkfState *s = <UkfState *>state
    observe(s, s.cells.given, s.cells.given + s.model.n_u)
    show(&s.estimate, s.cells.value)
    s.cells.n_done += 1
    return 0


cdef class AugmentedUkf(EstimatorBlock):
    """A-UKF: unscented filter on states and unknown inputs; a block.

    Parameters
    ----------
    name : str
        Name of the block.
    model : object
        With `unscented_capsule()`: an `UnscentedModel`.
    settings : UnscentedSettings
        Start and noise.
    reads, writes : mapping of str to str, optional
        Port to signal path. It reads `u_0` ...: known inputs; `y_0` ...: samples, NaN for none this cycle. It writes
        `x_0` ...: the estimate; `nis`: number of samples on average; `repaired`.

    Raises
    ------
    ValueError
        Wrong lengths or values, or a wrong port.

    Real time
    ---------
    `step` is safe: no allocation, no Python; 2 n transitions and measurements.

    Source
    ------
    Julier, Uhlmann 1997, doi:10.1117/12.280797; coupled state and input: ECCOMAS Multibody
    Dynamics 2015 (driveline of an induction motor).
    """

    def __init__(self, str name, model, settings, *, reads=None, writes=None):
        cdef UkfState *s = &self.state
        cdef object capsule = model.unscented_capsule()
        s.model = <UnscentedModel *>PyCapsule_GetPointer(capsule, b"rigloop.unscented_model")
        cdef int n = s.model.n_x, n_u = s.model.n_u, n_y = s.model.n_y, i
        mistakes = []
        if s.model.abi != UNSCENTED_ABI or n < 1 or n_u < 0 or n_y < 1:
            mistakes.append(f"model of {n} states, {n_u} inputs, {n_y} outputs: of another version, or of none")
        for key, length in (("start", n), ("start_noise", n), ("process_noise", n), ("sample_noise", n_y)):
            values = getattr(settings, key)
            if len(values) != length or not np.all(np.isfinite(values)):
                mistakes.append(f"{key}: {length} numbers are needed, found {list(values)}")
            elif key != "start" and not np.all(np.asarray(values) > 0.0):
                mistakes.append(f"{key} = {list(values)}: must be positive")
        read_ports = (*(f"u_{i}" for i in range(n_u)), *(f"y_{i}" for i in range(n_y)))
        ports = (reads or {}, writes or {}, read_ports, (*(f"x_{i}" for i in range(n)), "nis", "repaired"))
        mistakes += wrong_ports(ports)
        if mistakes:
            raise ValueError(f"{name}: " + "; ".join(mistakes))
        s.cells.n = n
        self.wire(name, ports, {"u": n_u, "y": n_y}, &s.cells, sizeof(UkfState), _lay_out, _advance)
        self.model, s.cells.cov = model, s.estimate.cov
        s.period_s = settings.period_s
        for i in range(n):
            s.estimate.x[i] = s.start[i] = settings.start[i]
            s.estimate.start_var[i] = settings.start_noise[i] ** 2
            s.process_var[i] = settings.process_noise[i] ** 2
        for i in range(n_y):
            s.sample_var[i] = settings.sample_noise[i] ** 2
        begin_again(&s.estimate)

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
from libc.stdint cimport int64_t

from estimators.numerics.covariance cimport cholesky
from estimators.numerics.linear_solve cimport solve
from estimators.ported_block cimport square
from estimators.numerics.small_covariance cimport all_bounded, begin_anew, set_diagonal

import numpy as np

from estimators.ported_block import not_positive


cdef bint _draw(const UkfState *s, double points[2 * MOST][MOST]) noexcept nogil:
    # x +- columns of sqrt(n P); false without a root
    cdef int n = s.model.n_x, i, j
    cdef double root[MOST2]
    cdef double step, spread = sqrt(<double>n)
    if cholesky(s.p, root, n) < n:
        return False
    for j in range(n):
        for i in range(n):
            # the root is lower triangular
            step = spread * root[i * n + j] if i >= j else 0.0
            points[j][i] = s.x[i] + step
            points[n + j][i] = s.x[i] - step
    return True


cdef bint _predict(UkfState *s) noexcept nogil:
    # mean and covariance of the points, moved; false without a root
    cdef int n = s.model.n_x, i, j, k
    cdef double points[2 * MOST][MOST]
    cdef double at[MOST]
    cdef double total
    if not _draw(s, points):
        return False
    for k in range(2 * n):
        for i in range(n):
            at[i] = points[k][i]
        s.model.transition(s.model.model, at, s.u, s.period_s, points[k])
    for i in range(n):
        total = 0.0
        for k in range(2 * n):
            total += points[k][i]
        s.x[i] = total / (2 * n)
    for i in range(n):
        for j in range(i, n):
            total = 0.0
            for k in range(2 * n):
                total += (points[k][i] - s.x[i]) * (points[k][j] - s.x[j])
            s.p[i * n + j] = s.p[j * n + i] = total / (2 * n) + (s.process[i] if i == j else 0.0)
    return True


cdef void _correct(UkfState *s, const double *u, const double *y) noexcept nogil:
    cdef int n = s.model.n_x, m = 0, i, j, k
    cdef int there[MOST_OUTPUTS]
    cdef double points[2 * MOST][MOST]
    cdef double expected[2 * MOST][MOST_OUTPUTS]
    cdef double mean[MOST_OUTPUTS]
    cdef double pyy[MOST_OUTPUTS * MOST_OUTPUTS]
    cdef double gain[MOST_OUTPUTS * (MOST + 1)]     # [Pyx, innovation], then Pyy^-1 of it
    cdef double cross[MOST_OUTPUTS * MOST]
    cdef double innovation[MOST_OUTPUTS]
    cdef double total
    for i in range(s.model.n_y):
        if isfinite(y[i]):
            there[m] = i
            m += 1
    # drawn again about the prediction, so that they spread by the process noise too
    if m == 0 or not _draw(s, points):
        return
    for k in range(2 * n):
        s.model.measure(s.model.model, points[k], u, expected[k])
    for i in range(m):
        total = 0.0
        for k in range(2 * n):
            total += expected[k][there[i]]
        mean[i] = total / (2 * n)
        innovation[i] = y[there[i]] - mean[i]
    for i in range(m):
        for j in range(m):
            total = 0.0
            for k in range(2 * n):
                total += (expected[k][there[i]] - mean[i]) * (expected[k][there[j]] - mean[j])
            pyy[i * m + j] = total / (2 * n) + (s.noise[there[i]] if i == j else 0.0)
        for j in range(n):
            total = 0.0
            for k in range(2 * n):
                total += (expected[k][there[i]] - mean[i]) * (points[k][j] - s.x[j])
            cross[i * n + j] = gain[i * (n + 1) + j] = total / (2 * n)
        gain[i * (n + 1) + n] = innovation[i]
    if not solve(pyy, gain, m, n + 1, 0.0):
        return
    for i in range(m):
        s.nis += innovation[i] * gain[i * (n + 1) + n]
    for j in range(n):
        for i in range(m):
            s.x[j] += gain[i * (n + 1) + j] * innovation[i]
        for k in range(j, n):
            # K Pyy K' = Pxy Pyy^-1 Pyx
            total = 0.0
            for i in range(m):
                total += cross[i * n + j] * gain[i * (n + 1) + k]
            s.p[j * n + k] -= total
            s.p[k * n + j] = s.p[j * n + k]


cdef void observe(UkfState *s, const double *u, const double *y) noexcept nogil:
    """One cycle: predict with the inputs of the last one, correct by all that is measured."""
    cdef int i
    s.nis = 0.0
    if s.started:
        if _predict(s):
            _correct(s, u, y)
        # about the newest estimate, and counted; one that has overflowed starts over
        s.n_resets += begin_anew(s.p, s.initial, s.model.n_x)
        if not all_bounded(s.x, s.model.n_x):
            for i in range(s.model.n_x):
                s.x[i] = s.start[i]
            set_diagonal(s.p, s.initial, s.model.n_x)
    s.started = True
    for i in range(s.model.n_u):
        # an input that is missing is the last one again
        if isfinite(u[i]):
            s.u[i] = u[i]


cdef int _step(void *self, int64_t t_ns) noexcept nogil:
    cdef UkfState *s = <UkfState *>self
    cdef Ports *ports = s.ports
    cdef int n_u = s.model.n_u, n_x = s.model.n_x, i
    cdef double u[MOST_INPUTS]
    cdef double y[MOST_OUTPUTS]
    for i in range(n_u):
        u[i] = ports.read[i][0]
    for i in range(s.model.n_y):
        y[i] = ports.read[n_u + i][0]
    observe(s, u, y)
    for i in range(n_x):
        ports.write[i][0] = s.x[i]
    ports.write[n_x][0] = s.nis
    ports.write[n_x + 1][0] = <double>s.n_resets
    return 0


cdef class AugmentedUkf(PortedBlock):
    """A-UKF: unscented filter on states and unknown inputs; a block.

    Parameters
    ----------
    name : str
        Name of the block.
    reads : mapping of str to str
        Port to signal path. `u_0` ...: known inputs; `y_0` ...: samples, NaN for none this cycle.
    writes : mapping of str to str
        `x_0` ...: the estimate; `nis`: number of samples on average; `covariance_resets`.
    model : object
        With `unscented_capsule()`: an `UnscentedModel`.
    period_s : float
        Period of the task, s.
    start, start_noise : sequence of float, length n_x
        First estimate, and its standard deviations.
    process_noise : sequence of float, length n_x
        Standard deviations of the noise that a cycle adds; for an unknown input, of its random walk.
    sample_noise : sequence of float, length n_y
        Standard deviations of the samples.

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

    def __init__(
        self, str name, reads, writes, *, model, double period_s, start, start_noise,
        process_noise, sample_noise,
    ):
        cdef UkfState *s = &self.state
        cdef object capsule = model.unscented_capsule()
        s.model = <UnscentedModel *>PyCapsule_GetPointer(capsule, b"rigloop.unscented_model")
        cdef int n = s.model.n_x, n_u = s.model.n_u, n_y = s.model.n_y, i
        mistakes = []
        if s.model.abi != UNSCENTED_ABI or not (
                1 <= n <= MOST and 0 <= n_u <= MOST_INPUTS and 1 <= n_y <= MOST_OUTPUTS):
            mistakes.append(
                f"model of {n} states, {n_u} inputs, {n_y} outputs: at most {MOST}, "
                f"{MOST_INPUTS}, {MOST_OUTPUTS}")
        mistakes += not_positive(period_s=period_s)
        for key, values, length in (
                ("start", start, n), ("start_noise", start_noise, n),
                ("process_noise", process_noise, n), ("sample_noise", sample_noise, n_y)):
            if len(values) != length or not np.all(np.isfinite(values)):
                mistakes.append(f"{key}: {length} numbers are needed, found {list(values)}")
            elif key != "start" and not np.all(np.asarray(values) > 0.0):
                mistakes.append(f"{key} = {list(values)}: must be positive")
        if mistakes:
            raise ValueError(f"{name}: " + "; ".join(mistakes))
        ports = [f"u_{i}" for i in range(n_u)] + [f"y_{i}" for i in range(n_y)]
        self.set_up(
            name, reads, writes, ports,
            [f"x_{i}" for i in range(n)] + ["nis", "covariance_resets"], (), _step, s)
        self.model = model
        s.ports = &self.ports
        s.period_s = period_s
        for i in range(n):
            s.x[i] = s.start[i] = start[i]
            s.initial[i] = start_noise[i] ** 2
            s.process[i] = process_noise[i] ** 2
        for i in range(n_y):
            s.noise[i] = sample_noise[i] ** 2
        set_diagonal(s.p, s.initial, n)

    @property
    def covariance(self):
        """Covariance of the estimate, shape (n_x, n_x)."""
        return square(self.state.p, self.state.model.n_x)

    def run(self, const double[:, ::1] u, const double[:, ::1] y):
        """Step over whole arrays.

        Parameters
        ----------
        u : ndarray of float64, shape (n_cycles, n_u)
        y : ndarray of float64, shape (n_cycles, n_y)

        Returns
        -------
        ndarray of float64, shape (n_cycles, n_x + 1)
            Estimate and nis of each cycle.

        Raises
        ------
        ValueError
            Wrong shapes.

        Real time
        ---------
        Not safe: allocates the result. The loop itself holds no GIL.
        """
        cdef Py_ssize_t cycles = y.shape[0], i
        cdef int n = self.state.model.n_x, n_u = self.state.model.n_u, j
        cdef const double *inputs
        if (u.shape[0] != cycles or u.shape[1] != n_u or y.shape[1] != self.state.model.n_y):
            raise ValueError(
                f"{self.name}: inputs ({u.shape[0]}, {u.shape[1]}) and samples ({cycles}, "
                f"{y.shape[1]}) for {n_u} inputs and {self.state.model.n_y} outputs")
        cdef double[:, ::1] out = np.empty((cycles, n + 1))
        with nogil:
            for i in range(cycles):
                inputs = &u[i, 0] if n_u > 0 else NULL
                observe(&self.state, inputs, &y[i, 0])
                for j in range(n):
                    out[i, j] = self.state.x[j]
                out[i, n] = self.state.nis
        return np.asarray(out)

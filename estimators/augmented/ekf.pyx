"""Single-stage augmented EKF: motion and unknown forces in one state.

    x = [z, zd, F2],   a = mass^-1 (B1 F1 + B2 F2 - bias)
    z <- z + T zd + T^2/2 a,   zd <- zd + T a,   F2 <- F2 + noise

corrected by positions and by the accelerations S a + bias_S of the measured points. The baseline
that the two-stage observer is compared with: as good when model and noise are, and no better than
they are when not.
"""
from libc.math cimport isfinite
from libc.stdint cimport int64_t

from estimators.numerics.linear_solve cimport solve
from estimators.numerics.observed_model cimport MOST_SENSORS, observed_model
from estimators.ported_block cimport square
from estimators.numerics.small_covariance cimport (
    all_bounded, begin_anew, propagate, set_diagonal, take_scalar, take_state,
)

import numpy as np

from estimators.ported_block import not_positive


cdef bint _accelerate(
    const AugmentedState *s, const double *x, const double *force, double *a, double *u, double *sens,
    double *a_f,
) noexcept nogil:
    # accelerations of the coordinates and of the measured points, S (m, n), slopes of a in F2 (n, n); false without an
    # inverse
    cdef int n = s.model.n_dof, wide = n + 1, i, j
    cdef double mass[MOST_DOF * MOST_DOF]
    cdef double bias[MOST_DOF]
    cdef double known[MOST_DOF * MOST_DOF]
    cdef double unknown[MOST_DOF * MOST_DOF]
    cdef double solved[MOST_DOF * (MOST_DOF + 1)]
    s.model.dynamics(s.model.model, x, x + n, mass, bias, known, unknown)
    for i in range(n):
        solved[i * wide] = -bias[i]
        for j in range(n):
            solved[i * wide] += known[i * n + j] * force[j] + unknown[i * n + j] * x[2 * n + j]
            solved[i * wide + 1 + j] = unknown[i * n + j]
    if not solve(mass, solved, n, wide, 0.0):
        return False
    for i in range(n):
        a[i] = solved[i * wide]
        for j in range(n):
            a_f[i * n + j] = solved[i * wide + 1 + j]
    s.model.sensors(s.model.model, x, x + n, sens, u)
    for i in range(s.model.n_sensors):
        for j in range(n):
            u[i] += sens[i * n + j] * a[j]
    return True


cdef bint _linearise(
    const AugmentedState *s, const double *force, double *a, double *u, double *a_x, double *u_x
) noexcept nogil:
    # values and exact slopes in x; false without an inverse or without slopes
    cdef int n = s.model.n_dof, m = s.model.n_sensors, n_x = 3 * n, i, j, k
    cdef double sens[MOST_SENSORS * MOST_DOF]
    cdef double a_f[MOST_DOF * MOST_DOF]
    cdef double read[MOST_SENSORS * 2 * MOST_DOF]
    cdef double moved[MOST_DOF * 2 * MOST_DOF]
    cdef double both[2 * MOST_DOF]
    if not _accelerate(s, s.x, force, a, u, sens, a_f):
        return False
    s.model.sensor_slopes(s.model.model, s.x, s.x + n, a, read)
    for i in range(n):
        both[i], both[n + i] = force[i], s.x[2 * n + i]
    s.model.dynamics_slopes(s.model.model, s.x, s.x + n, both, moved)
    for i in range(n):
        for j in range(2 * n):
            a_x[i * n_x + j] = moved[i * 2 * n + j]
        for j in range(n):
            a_x[i * n_x + 2 * n + j] = a_f[i * n + j]
    for k in range(m):
        for j in range(n_x):
            u_x[k * n_x + j] = read[k * 2 * n + j] if j < 2 * n else 0.0
            for i in range(n):
                u_x[k * n_x + j] += sens[k * n + i] * a_x[i * n_x + j]
    return all_bounded(a_x, n * n_x) and all_bounded(u_x, m * n_x)


cdef bint _predict(AugmentedState *s) noexcept nogil:
    cdef int n = s.model.n_dof, n_x = 3 * n, i, j, k
    cdef double t = s.period_s, half = 0.5 * t * t
    cdef double a[MOST_DOF]
    cdef double u[MOST_SENSORS]
    cdef double a_x[MOST_DOF * MOST]
    cdef double u_x[MOST_SENSORS * MOST]
    cdef double f[MOST2]
    cdef double part[2]
    part[0], part[1] = half, t
    if not _linearise(s, s.known, a, u, a_x, u_x):
        return False
    for i in range(n_x):
        for j in range(n_x):
            f[i * n_x + j] = 1.0 if i == j else 0.0
    for i in range(n):
        f[i * n_x + n + i] += t
        for k in range(2):
            for j in range(n_x):
                f[(k * n + i) * n_x + j] += part[k] * a_x[i * n_x + j]
    for i in range(n):
        s.x[i] += t * s.x[n + i] + half * a[i]
        s.x[n + i] += t * a[i]
    propagate(s.p, f, n_x)
    for i in range(n):
        for k in range(4):
            s.p[(k // 2 * n + i) * n_x + k % 2 * n + i] += (
                part[k // 2] * part[k % 2] * s.disturbance_variance)
        s.p[(2 * n + i) * n_x + 2 * n + i] += s.walk_variance
    return True


cdef void _take(
    AugmentedState *s, const double *position, const double *u, const double *known
) noexcept nogil:
    cdef int n = s.model.n_dof, m = s.model.n_sensors, n_x = 3 * n, i, j
    cdef double a[MOST_DOF]
    cdef double expected[MOST_SENSORS]
    cdef double a_x[MOST_DOF * MOST]
    cdef double u_x[MOST_SENSORS * MOST]
    cdef double before[MOST]
    cdef double sens[MOST_SENSORS * MOST_DOF]
    cdef double a_f[MOST_DOF * MOST_DOF]
    cdef double innovation
    cdef bint good = _linearise(s, known, a, expected, a_x, u_x)
    for i in range(n_x):
        before[i] = s.x[i]
    for i in range(n):
        if isfinite(position[i]):
            s.nis += take_state(s.x, s.p, i, position[i], s.position_variance, n_x)
    for i in range(m if good else 0):
        if not isfinite(u[i]):
            continue
        # linear about the prediction; earlier corrections have moved the state from it
        innovation = u[i] - expected[i]
        for j in range(n_x):
            innovation -= u_x[i * n_x + j] * (s.x[j] - before[j])
        s.nis += innovation * innovation / take_scalar(
            s.x, s.p, &u_x[i * n_x], innovation, s.acceleration_variance, n_x)
    if _accelerate(s, s.x, known, a, expected, sens, a_f):
        for i in range(n):
            s.zdd[i] = a[i]


cdef void observe(
    AugmentedState *s, const double *position, const double *u, const double *known
) noexcept nogil:
    """One cycle: predict with the known forces of the last one, correct by all that is measured."""
    cdef int n = s.model.n_dof, n_x = 3 * n, i
    s.nis = 0.0
    if s.tracking:
        _predict(s)
    for i in range(n):
        # a known force that is missing is the last one again
        if isfinite(known[i]):
            s.known[i] = known[i]
    if s.tracking:
        _take(s, position, u, s.known)
        s.n_resets += begin_anew(s.p, s.initial, n_x)
        # an estimate that has overflowed starts over with the next positions
        s.tracking = all_bounded(s.x, n_x)
    elif all_bounded(position, n):
        for i in range(n_x):
            s.x[i] = position[i] if i < n else 0.0
        set_diagonal(s.p, s.initial, n_x)
        s.tracking = True


cdef int _step(void *self, int64_t t_ns) noexcept nogil:
    cdef AugmentedState *s = <AugmentedState *>self
    cdef Ports *ports = s.ports
    cdef int n = s.model.n_dof, m = s.model.n_sensors, i
    cdef double position[MOST_DOF]
    cdef double u[MOST_SENSORS]
    cdef double known[MOST_DOF]
    for i in range(n):
        position[i] = ports.read[i][0]
        known[i] = ports.read[n + m + i][0]
    for i in range(m):
        u[i] = ports.read[n + i][0]
    observe(s, position, u, known)
    for i in range(2 * n):
        ports.write[i][0] = s.x[i]
    for i in range(n):
        ports.write[2 * n + i][0] = s.zdd[i]
        ports.write[3 * n + i][0] = s.x[2 * n + i]
    ports.write[4 * n][0] = s.nis
    ports.write[4 * n + 1][0] = <double>s.n_resets
    ports.write[4 * n + 2][0] = 1.0 if s.tracking else 0.0
    return 0


cdef class AugmentedEkf(PortedBlock):
    """Augmented EKF: motion and unknown forces at once; a block.

    Parameters
    ----------
    name : str
        Name of the block.
    reads : mapping of str to str
        Port to signal path. `position_0` ..., `acceleration_0` ...: measured, NaN for none this
        cycle; `known_0` ...: known forces.
    writes : mapping of str to str
        `z_0` ..., `zd_0` ..., `zdd_0` ..., `unknown_0` ...: the estimate; `nis`;
        `covariance_resets`; `ready`: 1 from the first position on.
    model : object
        With `model_capsule()`: an `ObservedModel`.
    period_s : float
        Period of the task, s.
    position_noise, acceleration_noise : float
        Standard deviations of the samples.
    disturbance : float
        Standard deviation of the acceleration that the model is wrong by in a cycle, 1/s^2.
    walk_noise : float
        Standard deviation of the random walk of an unknown force in a cycle, N or N m.

    Raises
    ------
    ValueError
        A value out of range, or a wrong port.

    Real time
    ---------
    `step` is safe: no allocation, no Python; three evaluations of the model and two of its slopes.

    Source
    ------
    Lourens et al. 2012, doi:10.1016/j.ymssp.2011.09.011 (augmented filter); Jazwinski 1970, 8.3.
    """

    def __init__(
        self, str name, reads, writes, *, model, double period_s, double position_noise,
        double acceleration_noise, double disturbance, double walk_noise,
    ):
        cdef AugmentedState *s = &self.state
        s.model = observed_model(name, model)
        cdef int n = s.model.n_dof, m = s.model.n_sensors, i
        mistakes = not_positive(
            period_s=period_s, position_noise=position_noise,
            acceleration_noise=acceleration_noise, disturbance=disturbance, walk_noise=walk_noise)
        if not 1 <= n <= MOST_DOF or not 0 <= m <= MOST_SENSORS:
            mistakes.append(f"model of {n} dof and {m} sensors: at most {MOST_DOF} of each")
        if mistakes:
            raise ValueError(f"{name}: " + "; ".join(mistakes))
        positions = [f"position_{i}" for i in range(n)]
        known = [f"known_{i}" for i in range(n)]
        self.set_up(
            name, reads, writes, positions + [f"acceleration_{i}" for i in range(m)] + known,
            [f"{part}_{i}" for part in ("z", "zd", "zdd", "unknown") for i in range(n)]
            + ["nis", "covariance_resets", "ready"],
            positions, _step, s)
        self.model, self.n_dof = model, n
        s.ports = &self.ports
        s.period_s = period_s
        s.position_variance = position_noise ** 2
        s.acceleration_variance = acceleration_noise ** 2
        s.disturbance_variance = disturbance ** 2
        s.walk_variance = walk_noise ** 2
        for i in range(n):
            s.initial[i] = position_noise ** 2
            s.initial[n + i] = 2.0 * (position_noise / period_s) ** 2
            s.initial[2 * n + i] = 1e4 * walk_noise ** 2

    @property
    def covariance(self):
        """Covariance of [z, zd, F2], shape (3 n, 3 n)."""
        return square(self.state.p, 3 * self.n_dof)

    def run(
        self, const double[:, ::1] position, const double[:, ::1] acceleration,
        const double[:, ::1] known,
    ):
        """Step over whole arrays.

        Parameters
        ----------
        position, known : ndarray of float64, shape (n_cycles, n_dof)
        acceleration : ndarray of float64, shape (n_cycles, n_sensors)

        Returns
        -------
        ndarray of float64, shape (n_cycles, 4 n_dof + 1)
            z, zd, zdd, unknown forces and nis of each cycle.

        Raises
        ------
        ValueError
            Wrong shapes.

        Real time
        ---------
        Not safe: allocates the result. The loop itself holds no GIL.
        """
        cdef Py_ssize_t cycles = position.shape[0], i
        cdef int n = self.state.model.n_dof, m = self.state.model.n_sensors, j
        if (position.shape[1] != n or acceleration.shape[0] != cycles
                or acceleration.shape[1] != m or known.shape[0] != cycles or known.shape[1] != n):
            raise ValueError(
                f"{self.name}: positions ({cycles}, {position.shape[1]}), accelerations "
                f"({acceleration.shape[0]}, {acceleration.shape[1]}) and known forces "
                f"({known.shape[0]}, {known.shape[1]}) for {n} dof and {m} sensors")
        cdef double[:, ::1] out = np.empty((cycles, 4 * n + 1))
        with nogil:
            for i in range(cycles):
                observe(&self.state, &position[i, 0], &acceleration[i, 0], &known[i, 0])
                for j in range(2 * n):
                    out[i, j] = self.state.x[j]
                for j in range(n):
                    out[i, 2 * n + j] = self.state.zdd[j]
                    out[i, 3 * n + j] = self.state.x[2 * n + j]
                out[i, 4 * n] = self.state.nis
        return np.asarray(out)

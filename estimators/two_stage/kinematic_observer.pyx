"""Stage 1 of the two-stage observer: motion from positions and accelerations, without forces.

    x = [z, zd, zdd],   a = (S' S)^-1 S' (u - bias(z-, zd-))
    z- = z + T zd + T^2/2 zdd,   zd- = zd + T zdd
    z <- z-,   zd <- zd + T/2 (zdd + a),   zdd <- a

with the accelerations u of this cycle, corrected by its positions: Newmark's formula of the source with
gamma = 1/2. The source takes u of the cycle before, which makes rate and acceleration, and the forces behind
them, half a cycle and a cycle late. Accelerations are states, so that the correction filters them too and the
covariance knows that two steps share one sample. Where the accelerometers are blind (S near 0) no inverse
exists: there the acceleration is held, with noise of its own.

No force and no inertia enters, so nothing that is wrong about forces can bias the motion.
"""
from libc.math cimport isfinite
from libc.stdint cimport int64_t

from estimators.numerics.linear_solve cimport solve
from estimators.numerics.observed_model cimport observed_model
from estimators.ported_block cimport square
from estimators.numerics.small_covariance cimport (
    all_bounded, begin_anew, propagate, set_diagonal, take_gated,
)

import numpy as np

from estimators.ported_block import gate_mistakes, not_positive, one_each


cdef bint _acceleration(
    const KinematicState *s, const double *z, const double *zd, const double *u, double *a,
    double *inverse, double *slope,
) noexcept nogil:
    # a (n), the left inverse (n, m) of S, the slopes (n, 2 n) of a in z and zd; false where S is too small or
    # has no slopes
    cdef int n = s.model.n_dof, m = s.model.n_sensors, wide = m + n, i, j, k
    cdef double sens[MOST_SENSORS * MOST_DOF]
    cdef double bias[MOST_SENSORS]
    cdef double normal[MOST_DOF * MOST_DOF]
    cdef double solved[MOST_DOF * (MOST_SENSORS + MOST_DOF)]    # (S' S)^-1 [S' I]
    cdef double total
    s.model.sensors(s.model.model, z, zd, sens, bias)
    for i in range(n):
        for j in range(n):
            total = 0.0
            for k in range(m):
                total += sens[k * n + i] * sens[k * n + j]
            normal[i * n + j] = total
            solved[i * wide + m + j] = 1.0 if i == j else 0.0
        for k in range(m):
            solved[i * wide + k] = sens[k * n + i]
    if not solve(normal, solved, n, wide, s.least_sensitivity * s.least_sensitivity):
        return False
    for i in range(n):
        a[i] = 0.0
        for k in range(m):
            inverse[i * m + k] = solved[i * wide + k]
            a[i] += inverse[i * m + k] * (u[k] - bias[k])
    _slopes(s, z, zd, u, a, sens, bias, solved, slope)
    return all_bounded(slope, 2 * n * n)


cdef void _slopes(
    const KinematicState *s, const double *z, const double *zd, const double *u, const double *a,
    const double *sens, const double *bias, const double *solved, double *slope,
) noexcept nogil:
    # S' S da = dS' (u - S a - bias) - S' (dS a + dbias): exact
    cdef int n = s.model.n_dof, m = s.model.n_sensors, wide = m + n, i, j, k, c
    cdef double read[MOST_SENSORS * 2 * MOST_DOF]       # slopes of S a + bias
    cdef double more[MOST_SENSORS * 2 * MOST_DOF]       # and with one a_j larger by 1
    cdef double left[MOST_SENSORS]
    cdef double beyond[MOST_DOF]
    cdef double pull
    s.model.sensor_slopes(s.model.model, z, zd, a, read)
    for i in range(n):
        for c in range(2 * n):
            slope[i * 2 * n + c] = 0.0
            for k in range(m):
                slope[i * 2 * n + c] -= solved[i * wide + k] * read[k * 2 * n + c]
    if m == n:
        # no reading is left over
        return
    for k in range(m):
        left[k] = u[k] - bias[k]
        for j in range(n):
            left[k] -= sens[k * n + j] * a[j]
    for j in range(n):
        for i in range(n):
            beyond[i] = a[i] + 1.0 if i == j else a[i]
        # linear in a: the difference is the slope of column j of S, which depends on z alone
        s.model.sensor_slopes(s.model.model, z, zd, beyond, more)
        for c in range(n):
            pull = 0.0
            for k in range(m):
                pull += (more[k * 2 * n + c] - read[k * 2 * n + c]) * left[k]
            for i in range(n):
                slope[i * 2 * n + c] += solved[i * wide + m + j] * pull


cdef void _predict(KinematicState *s) noexcept nogil:
    cdef int n = s.model.n_dof, m = s.model.n_sensors, n_x = 3 * n, i, j, k
    cdef double t = s.period_s, half = 0.5 * t * t, total
    cdef double a[MOST_DOF]
    cdef double inverse[MOST_DOF * MOST_SENSORS]
    cdef double at[2 * MOST_DOF]                    # z-, zd-
    cdef double slope[MOST_DOF * 2 * MOST_DOF]      # da / d(z-, zd-)
    cdef double f[MOST2]
    cdef double of_a[3]                             # a in z, zd, zdd
    of_a[0], of_a[1], of_a[2] = 0.0, 0.5 * t, 1.0
    for i in range(n):
        at[i] = s.x[i] + t * s.x[n + i] + half * s.x[2 * n + i]
        at[n + i] = s.x[n + i] + t * s.x[2 * n + i]
    cdef bint seen = _acceleration(s, at, at + n, s.u, a, inverse, slope)
    if not seen:
        s.n_guarded += 1
        for i in range(n):
            a[i] = s.x[2 * n + i]
    for i in range(n_x * n_x):
        f[i] = 0.0
    for i in range(n):
        f[i * n_x + i] = f[(n + i) * n_x + n + i] = 1.0
        f[i * n_x + n + i] = t
        f[i * n_x + 2 * n + i] = half
        f[(n + i) * n_x + 2 * n + i] = 0.5 * t
    for k in range(1, 3):
        for i in range(n):
            if not seen:
                f[(k * n + i) * n_x + 2 * n + i] += of_a[k]
                continue
            for j in range(n):
                # through z- and zd-
                f[(k * n + i) * n_x + j] += of_a[k] * slope[i * 2 * n + j]
                f[(k * n + i) * n_x + n + j] += of_a[k] * (
                    t * slope[i * 2 * n + j] + slope[i * 2 * n + n + j])
                f[(k * n + i) * n_x + 2 * n + j] += of_a[k] * (
                    half * slope[i * 2 * n + j] + t * slope[i * 2 * n + n + j])
    for i in range(n):
        s.x[i] = at[i]
        s.x[n + i] += 0.5 * t * (s.x[2 * n + i] + a[i])
        s.x[2 * n + i] = a[i]
    propagate(s.p, f, n_x)
    # noise of u through the inverse: it grows by itself towards a blind place
    for i in range(n):
        for j in range(n):
            total = 0.0
            if seen:
                for k in range(m):
                    total += inverse[i * m + k] * inverse[j * m + k] * s.acceleration_variance[k]
            elif i == j:
                total = s.jerk_variance
            for k in range(9):
                s.p[(k // 3 * n + i) * n_x + k % 3 * n + j] += (
                    of_a[k // 3] * of_a[k % 3] * total)


cdef void _give_up(KinematicState *s) noexcept nogil:
    # an estimate that has overflowed starts over with the next position
    cdef int n_x = 3 * s.model.n_dof, i
    s.tracking = False
    s.nis = 0.0
    for i in range(n_x):
        s.x[i] = 0.0
    set_diagonal(s.p, s.initial, n_x)


cdef void observe(KinematicState *s, const double *position, const double *u) noexcept nogil:
    """One cycle: predict with its accelerations, correct by its positions."""
    cdef int n = s.model.n_dof, n_x = 3 * n, i
    s.nis = 0.0
    s.gate.used = 0
    for i in range(s.model.n_sensors):
        # an acceleration that is missing is the last one again
        if isfinite(u[i]):
            s.u[i] = u[i]
    if s.tracking:
        _predict(s)
        if not all_bounded(s.x, n_x):
            _give_up(s)
    if not s.tracking:
        for i in range(n_x):
            s.x[i] = 0.0
        if all_bounded(position, n):
            for i in range(n):
                s.x[i] = position[i]
            set_diagonal(s.p, s.initial, n_x)
            s.tracking = True
    else:
        for i in range(n):
            s.nis += take_gated(
                s.x, s.p, i, position[i], s.position_variance[i], n_x, &s.gate)
        s.n_resets += begin_anew(s.p, s.initial, n_x)
        if not (all_bounded(s.x, n_x) and isfinite(s.nis)):
            _give_up(s)


cdef int _step(void *self, int64_t t_ns) noexcept nogil:
    cdef KinematicState *s = <KinematicState *>self
    cdef Ports *ports = s.ports
    cdef int n = s.model.n_dof, i
    cdef double position[MOST_DOF]
    cdef double u[MOST_SENSORS]
    for i in range(n):
        position[i] = ports.read[i][0]
    for i in range(s.model.n_sensors):
        u[i] = ports.read[n + i][0]
    observe(s, position, u)
    for i in range(3 * n):
        ports.write[i][0] = s.x[i]
    ports.write[3 * n][0] = s.nis
    ports.write[3 * n + 1][0] = <double>s.n_guarded
    ports.write[3 * n + 2][0] = <double>s.n_resets
    ports.write[3 * n + 3][0] = 1.0 if s.tracking else 0.0
    return 0


cdef class KinematicObserver(PortedBlock):
    """Kinematic Kalman filter: stage 1 of the two-stage observer; a block.

    Parameters
    ----------
    name : str
        Name of the block.
    reads : mapping of str to str
        Port to signal path. `position_0` ...: measured independent coordinates, NaN for none this
        cycle; `acceleration_0` ...: measured accelerations of the points of the model.
    writes : mapping of str to str
        `z_0` ..., `zd_0` ..., `zdd_0` ...: the estimate; `nis`: normalised innovation squared, n on
        average; `guarded`: cycles with held acceleration; `covariance_resets`; `ready`: 1 from the
        first position on.
    model : object
        With `model_capsule()`: an `ObservedModel`, at least as many sensors as dof. Of it only the
        geometry is used.
    period_s : float
        Period of the task, s.
    position_noise : float or sequence of float
        Standard deviation of a position, rad or m; one for all, or one each.
    acceleration_noise : float or sequence of float
        Standard deviation of an acceleration, with the error of the geometry, m/s^2 or rad/s^2.
    least_sensitivity : float, optional
        |S| below which the accelerometers count as blind, in the unit of S.
    held_noise : float, optional
        Standard deviation of the change of a held acceleration in a cycle, 1/s^2.
    gate_sigma : float, optional
        Innovation of a position, in its standard deviations, above which it is rejected; 0: never.
    gate_patience : int, optional
        Rejected samples in a row after which the next one of that position is taken.

    Raises
    ------
    ValueError
        A value out of range, a wrong port, a model with too few sensors.

    Real time
    ---------
    `step` is safe: no allocation, no Python; one evaluation of the geometry and its slopes, n more of the slopes
    where there are more accelerometers than freedoms.

    Source
    ------
    Two-stage observer, ECCOMAS Multibody Dynamics 2015; EKF: Bar-Shalom, Li, Kirubarajan 2001, 10.3.
    """

    def __init__(
        self, str name, reads, writes, *, model, double period_s, position_noise,
        acceleration_noise, double least_sensitivity=1e-3, double held_noise=1.0,
        double gate_sigma=0.0, int gate_patience=20,
    ):
        cdef KinematicState *s = &self.state
        s.model = observed_model(name, model)
        cdef int n = s.model.n_dof, m = s.model.n_sensors, i
        cdef double[::1] position_std, acceleration_std
        mistakes = not_positive(
            period_s=period_s, least_sensitivity=least_sensitivity, held_noise=held_noise)
        position_std = one_each("position_noise", position_noise, n, mistakes)
        acceleration_std = one_each("acceleration_noise", acceleration_noise, m, mistakes)
        mistakes += gate_mistakes(gate_sigma, gate_patience)
        if not 1 <= n <= MOST_DOF or m > MOST_SENSORS:
            mistakes.append(f"model of {n} dof and {m} sensors: at most {MOST_DOF} of each")
        elif m < n:
            mistakes.append(f"model of {n} dof with {m} accelerations: needs as many as dof")
        if mistakes:
            raise ValueError(f"{name}: " + "; ".join(mistakes))
        positions = [f"position_{i}" for i in range(n)]
        self.set_up(
            name, reads, writes, positions + [f"acceleration_{i}" for i in range(m)],
            [f"{part}_{i}" for part in ("z", "zd", "zdd") for i in range(n)]
            + ["nis", "guarded", "covariance_resets", "ready"],
            positions, _step, s)
        self.model, self.n_dof = model, n
        s.ports = &self.ports
        s.period_s = period_s
        s.gate.limit, s.gate.patience = gate_sigma ** 2, gate_patience
        for i in range(m):
            s.acceleration_variance[i] = acceleration_std[i] ** 2
        s.least_sensitivity = least_sensitivity
        s.jerk_variance = held_noise ** 2
        for i in range(n):
            # a wide start: two samples determine the rate, and three the acceleration
            s.position_variance[i] = s.initial[i] = position_std[i] ** 2
            s.initial[n + i] = 2.0 * (position_std[i] / period_s) ** 2
            s.initial[2 * n + i] = 6.0 * (position_std[i] / period_s ** 2) ** 2

    @property
    def covariance(self):
        """Covariance of [z, zd, zdd], shape (3 n, 3 n)."""
        return square(self.state.p, 3 * self.n_dof)

    def run(self, const double[:, ::1] position, const double[:, ::1] acceleration):
        """Step over whole arrays.

        Parameters
        ----------
        position : ndarray of float64, shape (n_cycles, n_dof)
        acceleration : ndarray of float64, shape (n_cycles, n_sensors)

        Returns
        -------
        ndarray of float64, shape (n_cycles, 3 n_dof + 1)
            z, zd, zdd and nis of each cycle.

        Raises
        ------
        ValueError
            Wrong shapes.

        Real time
        ---------
        Not safe: allocates the result. The loop itself holds no GIL.
        """
        cdef Py_ssize_t cycles = position.shape[0], i
        cdef int n = self.state.model.n_dof, j
        if (position.shape[1] != n or acceleration.shape[0] != cycles
                or acceleration.shape[1] != self.state.model.n_sensors):
            raise ValueError(
                f"{self.name}: positions ({cycles}, {position.shape[1]}) and accelerations "
                f"({acceleration.shape[0]}, {acceleration.shape[1]}) for {n} dof and "
                f"{self.state.model.n_sensors} sensors")
        cdef double[:, ::1] out = np.empty((cycles, 3 * n + 1))
        with nogil:
            for i in range(cycles):
                observe(&self.state, &position[i, 0], &acceleration[i, 0])
                for j in range(3 * n):
                    out[i, j] = self.state.x[j]
                out[i, 3 * n] = self.state.nis
        return np.asarray(out)

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
from libc.string cimport memset

from estimators.block cimport lay_out_cells
from estimators.numerics.arena cimport Arena, doubles
from estimators.numerics.covariance cimport propagate
from estimators.numerics.estimate cimport (
    Estimate, all_bounded, begin_again, lay_out_estimate, repair, show, take_state,
)
from estimators.numerics.linear_solve cimport solve
from estimators.numerics.observed_model cimport observed_model

from estimators.checks import one_each
from rt_core.block import wrong_ports


cdef void _lay_out(void *state, Arena *arena) noexcept:
    cdef KinematicState *s = <KinematicState *>state
    lay_out_cells(&s.cells, arena)
    lay_out_estimate(&s.estimate, s.cells.n, arena)
    s.position_var = doubles(arena, s.model.n_dof)
    s.acceleration_var = doubles(arena, s.model.n_sensors)
    s.u = doubles(arena, s.model.n_sensors)


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
    cdef double *x = s.estimate.x
    cdef double *f = s.estimate.transition
    cdef double *cov = s.estimate.cov
    cdef double t = s.period_s, half = 0.5 * t * t, total
    cdef double a[MOST_DOF]
    cdef double inverse[MOST_DOF * MOST_SENSORS]
    cdef double at[2 * MOST_DOF]                    # z-, zd-
    cdef double slope[MOST_DOF * 2 * MOST_DOF]      # da / d(z-, zd-)
    cdef double of_a[3]                             # a in z, zd, zdd
    of_a[0], of_a[1], of_a[2] = 0.0, 0.5 * t, 1.0
    for i in range(n):
        at[i] = x[i] + t * x[n + i] + half * x[2 * n + i]
        at[n + i] = x[n + i] + t * x[2 * n + i]
    cdef bint seen = _acceleration(s, at, at + n, s.u, a, inverse, slope)
    if not seen:
        s.n_guarded += 1
        for i in range(n):
            a[i] = x[2 * n + i]
    memset(f, 0, n_x * n_x * sizeof(double))
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
        x[i] = at[i]
        x[n + i] += 0.5 * t * (x[2 * n + i] + a[i])
        x[2 * n + i] = a[i]
    propagate(cov, f, NULL, s.estimate.work, n_x)
    # noise of u through the inverse: it grows by itself towards a blind place
    for i in range(n):
        for j in range(n):
            total = 0.0
            if seen:
                for k in range(m):
                    total += inverse[i * m + k] * inverse[j * m + k] * s.acceleration_var[k]
            elif i == j:
                total = s.jerk_var
            for k in range(9):
                cov[(k // 3 * n + i) * n_x + k % 3 * n + j] += of_a[k // 3] * of_a[k % 3] * total


cdef void _give_up(KinematicState *s) noexcept nogil:
    # an estimate that has overflowed starts over with the next position
    s.tracking = False
    s.estimate.nis = 0.0
    memset(s.estimate.x, 0, s.estimate.n * sizeof(double))
    begin_again(&s.estimate)


cdef void observe(KinematicState *s, const double *position, const double *u) noexcept nogil:
    """One cycle: predict with its accelerations, correct by its positions."""
    cdef Estimate *e = &s.estimate
    cdef int n = s.model.n_dof, i
    e.nis = 0.0
    e.gate.used = 0
    for i in range(s.model.n_sensors):
        # an acceleration that is missing is the last one again
        if isfinite(u[i]):
            s.u[i] = u[i]
    if s.tracking:
        _predict(s)
        if not all_bounded(e.x, e.n):
            _give_up(s)
    if s.tracking:
        for i in range(n):
            take_state(e, i, position[i], s.position_var[i])
        repair(e)
        if not (all_bounded(e.x, e.n) and isfinite(e.nis)):
            _give_up(s)
        return
    memset(e.x, 0, e.n * sizeof(double))
    if all_bounded(position, n):
        for i in range(n):
            e.x[i] = position[i]
        begin_again(e)
        s.tracking = True


cdef int _advance(void *state) noexcept nogil:
    cdef KinematicState *s = <KinematicState *>state
    cdef double *value
    observe(s, s.cells.given, s.cells.given + s.model.n_dof)
    value = show(&s.estimate, s.cells.value)
    value[0], value[1] = <double>s.n_guarded, 1.0 if s.tracking else 0.0
    s.cells.n_done += 1 + s.estimate.gate.used
    return 0


cdef class KinematicObserver(EstimatorBlock):
    """Kinematic Kalman filter: stage 1 of the two-stage observer; a block.

    Parameters
    ----------
    name : str
        Name of the block.
    model : object
        With `model_capsule()`: an `ObservedModel`, at least as many sensors as dof. Of it only the
        geometry is used.
    settings : KinematicSettings
        Noise and gates.
    reads, writes : mapping of str to str, optional
        Port to signal path. It reads `position_0` ...: measured independent coordinates, NaN for none this
        cycle; `acceleration_0` ...: measured accelerations of the points of the model. It writes
        `z_0` ..., `zd_0` ..., `zdd_0` ...: the estimate; `nis`: normalised innovation squared, n on
        average; `repaired`: covariances begun again; `guarded`: cycles with held acceleration; `ready`: 1
        from the first position on.

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

    def __init__(self, str name, model, settings, *, reads=None, writes=None):
        cdef KinematicState *s = &self.state
        cdef double period_s = settings.period_s
        s.model = observed_model(name, model)
        cdef int n = s.model.n_dof, m = s.model.n_sensors, i
        cdef double[::1] position_std, acceleration_std
        mistakes = []
        position_std = one_each("position_noise", settings.position_noise, n, mistakes)
        acceleration_std = one_each("acceleration_noise", settings.acceleration_noise, m, mistakes)
        if not 1 <= n <= MOST_DOF or m > MOST_SENSORS:
            mistakes.append(f"model of {n} dof and {m} sensors: at most {MOST_DOF} of each")
        elif m < n:
            mistakes.append(f"model of {n} dof with {m} accelerations: needs as many as dof")
        positions = tuple(f"position_{i}" for i in range(n))
        ports = (
            reads or {}, writes or {}, (*positions, *(f"acceleration_{i}" for i in range(m))),
            (*(f"{part}_{i}" for part in ("z", "zd", "zdd") for i in range(n)), "nis", "repaired", "guarded", "ready"),
        )
        mistakes += wrong_ports(ports, positions)
        if mistakes:
            raise ValueError(f"{name}: " + "; ".join(mistakes))
        s.cells.n = 3 * n
        self.wire(
            name, ports, {"position": n, "acceleration": m}, &s.cells, sizeof(KinematicState), _lay_out, _advance)
        self.model, s.cells.cov = model, s.estimate.cov
        s.period_s = period_s
        s.estimate.gate.limit, s.estimate.gate.patience = settings.gate_sigma ** 2, settings.gate_patience
        for i in range(m):
            s.acceleration_var[i] = acceleration_std[i] ** 2
        s.least_sensitivity = settings.least_sensitivity
        s.jerk_var = settings.held_noise ** 2
        for i in range(n):
            # a wide start: two samples determine the rate, and three the acceleration
            s.position_var[i] = s.estimate.start_var[i] = position_std[i] ** 2
            s.estimate.start_var[n + i] = 2.0 * (position_std[i] / period_s) ** 2
            s.estimate.start_var[2 * n + i] = 6.0 * (position_std[i] / period_s ** 2) ** 2

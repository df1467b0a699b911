"""Single-stage augmented EKF: motion and unknown forces in one state.

    x = [z, zd, F2],   a = mass^-1 (B1 F1 + B2 F2 - bias)
    z <- z + T zd + T^2/2 a,   zd <- zd + T a,   F2 <- F2 + noise

corrected by positions and by the accelerations S a + bias_S of the measured points. The baseline
that the two-stage observer is compared with: as good when model and noise are, and no better than
they are when not.
"""
from libc.math cimport isfinite
from libc.string cimport memcpy, memset

from estimators.block cimport lay_out_cells
from estimators.numerics.arena cimport Arena, doubles
from estimators.numerics.covariance cimport propagate
from estimators.numerics.estimate cimport (
    Estimate, all_bounded, begin_again, lay_out_estimate, repair, take, take_state,
)
from estimators.numerics.linear_solve cimport solve
from estimators.numerics.observed_model cimport MOST_SENSORS, observed_model

from rt_core.block import wrong_ports


cdef void _lay_out(void *state, Arena *arena) noexcept:
    cdef AugmentedState *s = <AugmentedState *>state
    cdef int n = s.model.n_dof, n_x = s.cells.n
    lay_out_cells(&s.cells, arena)
    lay_out_estimate(&s.estimate, n_x, arena)
    s.zdd = doubles(arena, n)
    s.known = doubles(arena, n)
    s.before = doubles(arena, n_x)
    s.a_x = doubles(arena, n * n_x)
    s.u_x = doubles(arena, s.model.n_sensors * n_x)


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


cdef bint _linearise(AugmentedState *s, const double *force, double *a, double *u) noexcept nogil:
    # values, and exact slopes in x, `a_x` and `u_x`; false without an inverse or without slopes
    cdef int n = s.model.n_dof, m = s.model.n_sensors, n_x = 3 * n, i, j, k
    cdef double *x = s.estimate.x
    cdef double *a_x = s.a_x
    cdef double *u_x = s.u_x
    cdef double sens[MOST_SENSORS * MOST_DOF]
    cdef double a_f[MOST_DOF * MOST_DOF]
    cdef double read[MOST_SENSORS * 2 * MOST_DOF]
    cdef double moved[MOST_DOF * 2 * MOST_DOF]
    cdef double both[2 * MOST_DOF]
    if not _accelerate(s, x, force, a, u, sens, a_f):
        return False
    s.model.sensor_slopes(s.model.model, x, x + n, a, read)
    for i in range(n):
        both[i], both[n + i] = force[i], x[2 * n + i]
    s.model.dynamics_slopes(s.model.model, x, x + n, both, moved)
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


cdef void _predict(AugmentedState *s) noexcept nogil:
    # without slopes there is nothing to predict with
    cdef int n = s.model.n_dof, n_x = 3 * n, i, j, k
    cdef double t = s.period_s, half = 0.5 * t * t
    cdef double *x = s.estimate.x
    cdef double *f = s.estimate.transition
    cdef double *cov = s.estimate.cov
    cdef double a[MOST_DOF]
    cdef double u[MOST_SENSORS]
    cdef double part[2]
    part[0], part[1] = half, t
    if not _linearise(s, s.known, a, u):
        return
    memset(f, 0, n_x * n_x * sizeof(double))
    for i in range(n_x):
        f[i * n_x + i] = 1.0
    for i in range(n):
        f[i * n_x + n + i] += t
        for k in range(2):
            for j in range(n_x):
                f[(k * n + i) * n_x + j] += part[k] * s.a_x[i * n_x + j]
    for i in range(n):
        x[i] += t * x[n + i] + half * a[i]
        x[n + i] += t * a[i]
    propagate(cov, f, NULL, s.estimate.work, n_x)
    for i in range(n):
        for k in range(4):
            cov[(k // 2 * n + i) * n_x + k % 2 * n + i] += part[k // 2] * part[k % 2] * s.disturbance_var
        cov[(2 * n + i) * n_x + 2 * n + i] += s.walk_var


cdef void _correct(AugmentedState *s, const double *position, const double *u) noexcept nogil:
    cdef Estimate *e = &s.estimate
    cdef int n = s.model.n_dof, m = s.model.n_sensors, n_x = 3 * n, i, j
    cdef double a[MOST_DOF]
    cdef double expected[MOST_SENSORS]
    cdef double sens[MOST_SENSORS * MOST_DOF]
    cdef double a_f[MOST_DOF * MOST_DOF]
    cdef double innovation
    cdef bint good = _linearise(s, s.known, a, expected)
    memcpy(s.before, e.x, n_x * sizeof(double))
    for i in range(n):
        take_state(e, i, position[i], s.position_var)
    for i in range(m if good else 0):
        if not isfinite(u[i]):
            continue
        # linear about the prediction; earlier corrections have moved the state from it
        innovation = u[i] - expected[i]
        for j in range(n_x):
            innovation -= s.u_x[i * n_x + j] * (e.x[j] - s.before[j])
        take(e, s.u_x + i * n_x, innovation, s.acceleration_var)
    if _accelerate(s, e.x, s.known, a, expected, sens, a_f):
        memcpy(s.zdd, a, n * sizeof(double))


cdef void observe(
    AugmentedState *s, const double *position, const double *u, const double *known
) noexcept nogil:
    """One cycle: predict with the known forces of the last one, correct by all that is measured."""
    cdef Estimate *e = &s.estimate
    cdef int n = s.model.n_dof, i
    e.nis = 0.0
    e.gate.used = 0
    if s.tracking:
        _predict(s)
    for i in range(n):
        # a known force that is missing is the last one again
        if isfinite(known[i]):
            s.known[i] = known[i]
    if s.tracking:
        _correct(s, position, u)
        repair(e)
        # an estimate that has overflowed starts over with the next positions
        s.tracking = all_bounded(e.x, e.n)
    elif all_bounded(position, n):
        memset(e.x, 0, e.n * sizeof(double))
        memcpy(e.x, position, n * sizeof(double))
        begin_again(e)
        s.tracking = True


cdef int _advance(void *state) noexcept nogil:
    cdef AugmentedState *s = <AugmentedState *>state
    cdef int n = s.model.n_dof
    cdef const double *given = s.cells.given
    cdef double *value = s.cells.value
    observe(s, given, given + n, given + n + s.model.n_sensors)
    memcpy(value, s.estimate.x, 2 * n * sizeof(double))
    memcpy(value + 2 * n, s.zdd, n * sizeof(double))
    memcpy(value + 3 * n, s.estimate.x + 2 * n, n * sizeof(double))
    value[4 * n], value[4 * n + 1] = s.estimate.nis, <double>s.estimate.n_repaired
    value[4 * n + 2] = 1.0 if s.tracking else 0.0
    s.cells.n_done += 1 + s.estimate.gate.used
    return 0


cdef class AugmentedEkf(EstimatorBlock):
    """Augmented EKF: motion and unknown forces at once; a block.

    Parameters
    ----------
    name : str
        Name of the block.
    model : object
        With `model_capsule()`: an `ObservedModel`.
    settings : AugmentedSettings
        Noise.
    reads, writes : mapping of str to str, optional
        Port to signal path. It reads `position_0` ..., `acceleration_0` ...: measured, NaN for none this
        cycle; `known_0` ...: known forces. It writes `z_0` ..., `zd_0` ..., `zdd_0` ..., `unknown_0` ...: the
        estimate; `nis`; `repaired`; `ready`: 1 from the first position on.

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

    def __init__(self, str name, model, settings, *, reads=None, writes=None):
        cdef AugmentedState *s = &self.state
        cdef double period_s = settings.period_s, position_noise = settings.position_noise
        cdef double walk_noise = settings.walk_noise
        s.model = observed_model(name, model)
        cdef int n = s.model.n_dof, m = s.model.n_sensors, i
        mistakes = []
        if not 1 <= n <= MOST_DOF or not 0 <= m <= MOST_SENSORS:
            mistakes.append(f"model of {n} dof and {m} sensors: at most {MOST_DOF} of each")
        read_ports = [f"{part}_{i}" for part, count in (
            ("position", n), ("acceleration", m), ("known", n)) for i in range(count)]
        write_ports = [f"{part}_{i}" for part in ("z", "zd", "zdd", "unknown") for i in range(n)]
        ports = (reads or {}, writes or {}, read_ports, (*write_ports, "nis", "repaired", "ready"))
        mistakes += wrong_ports(ports, read_ports[:n])
        if mistakes:
            raise ValueError(f"{name}: " + "; ".join(mistakes))
        s.cells.n = 3 * n
        parts = {"position": n, "acceleration": m, "known": n}
        self.wire(name, ports, parts, &s.cells, sizeof(AugmentedState), _lay_out, _advance)
        self.model, s.cells.cov = model, s.estimate.cov
        s.period_s = period_s
        s.position_var = position_noise ** 2
        s.acceleration_var = settings.acceleration_noise ** 2
        s.disturbance_var = settings.disturbance ** 2
        s.walk_var = walk_noise ** 2
        for i in range(n):
            s.estimate.start_var[i] = position_noise ** 2
            s.estimate.start_var[n + i] = 2.0 * (position_noise / period_s) ** 2
            s.estimate.start_var[2 * n + i] = 1e4 * walk_noise ** 2

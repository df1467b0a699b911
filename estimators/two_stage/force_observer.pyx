"""Stage 2 of the two-stage observer: known and unknown forces from the motion of stage 1.

    mass zdd + bias = B1 F1 + B2 F2,    F1 measured, F2 not

    form A:  F1 = B1^-1 (mass zdd + bias - B2 F2) + noise,   F2 = F2 + noise
    form B:  F1 = F1 + noise,                                F2 = B2^-1 (mass zdd + bias - B1 F1) + noise

with the motion of this cycle, corrected by the F1 that is measured in it: the printed equations take
the motion of the cycle before, and with it a cycle of delay. The other force walks first, so that the balance
knows of it. Take the form whose inverse exists where the mechanism works: A if the unknown force has dead
centres. Where it does not, all forces walk at random.
"""
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
    cdef ForceState *s = <ForceState *>state
    lay_out_cells(&s.cells, arena)
    lay_out_estimate(&s.estimate, s.cells.n, arena)
    s.known_var = doubles(arena, s.model.n_dof)
    s.balance_var = doubles(arena, s.model.n_dof)
    s.walk_var = doubles(arena, s.model.n_dof)


cdef void _predict(ForceState *s, const double *motion) noexcept nogil:
    cdef int n = s.model.n_dof, n_x = 2 * n, i, j
    cdef double *x = s.estimate.x
    cdef double *f = s.estimate.transition
    cdef double *cov = s.estimate.cov
    cdef double mass[MOST_DOF * MOST_DOF]
    cdef double tau[MOST_DOF]
    cdef double known[MOST_DOF * MOST_DOF]
    cdef double unknown[MOST_DOF * MOST_DOF]
    cdef double right[MOST_DOF * (MOST_DOF + 1)]    # [tau, B of the other force]
    cdef double *inverted = &known[0] if s.is_form_a else &unknown[0]
    cdef double *other = &unknown[0] if s.is_form_a else &known[0]
    # solved: the forces that the balance gives; walking: the others
    cdef int solved = 0 if s.is_form_a else n, walking = n if s.is_form_a else 0
    s.model.dynamics(s.model.model, motion, motion + n, mass, tau, known, unknown)
    for i in range(n):
        for j in range(n):
            tau[i] += mass[i * n + j] * motion[2 * n + j]
    for i in range(n):
        right[i * (n + 1)] = tau[i]
        for j in range(n):
            right[i * (n + 1) + 1 + j] = other[i * n + j]
    memset(f, 0, n_x * n_x * sizeof(double))
    for i in range(n):
        f[(walking + i) * n_x + walking + i] = 1.0
    if solve(inverted, right, n, n + 1, s.least_pivot):
        for i in range(n):
            x[solved + i] = right[i * (n + 1)]
            for j in range(n):
                x[solved + i] -= right[i * (n + 1) + 1 + j] * x[walking + j]
                f[(solved + i) * n_x + walking + j] = -right[i * (n + 1) + 1 + j]
    else:
        s.n_guarded += 1
        for i in range(n):
            f[(solved + i) * n_x + solved + i] = 1.0
    for i in range(n):
        cov[(walking + i) * n_x + walking + i] += s.walk_var[i]
    propagate(cov, f, NULL, s.estimate.work, n_x)
    for i in range(n):
        cov[(solved + i) * n_x + solved + i] += s.balance_var[i]


cdef void observe(ForceState *s, const double *motion, const double *known) noexcept nogil:
    """One cycle: predict with its motion, correct by its known forces; without a motion nothing changes."""
    cdef Estimate *e = &s.estimate
    cdef int n = s.model.n_dof, i
    e.nis = 0.0
    e.gate.used = 0
    s.has_motion = all_bounded(motion, 3 * n)
    if s.has_motion:
        _predict(s, motion)
        for i in range(n):
            take_state(e, i, known[i], s.known_var[i])
        repair(e)
        if not all_bounded(e.x, e.n):
            # overflowed: the next balance gives it again
            memset(e.x, 0, e.n * sizeof(double))


cdef int _advance(void *state) noexcept nogil:
    cdef ForceState *s = <ForceState *>state
    cdef double *value
    observe(s, s.cells.given, s.cells.given + 3 * s.model.n_dof)
    value = show(&s.estimate, s.cells.value)
    value[0] = <double>s.n_guarded
    s.cells.n_done += 1 + s.estimate.gate.used
    return 0


cdef class ForceObserver(EstimatorBlock):
    """Force observer: stage 2 of the two-stage observer, or after an encoder filter; a block.

    Parameters
    ----------
    name : str
        Name of the block.
    model : object
        With `model_capsule()`: an `ObservedModel`.
    settings : ForceSettings
        Form, noise and gates.
    reads, writes : mapping of str to str, optional
        Port to signal path. It reads `z_0` ..., `zd_0` ..., `zdd_0` ...: the motion; `known_0` ...: measured
        forces, NaN or not connected for none. It writes `known_0` ..., `unknown_0` ...: the estimate; `nis`,
        `repaired`, `guarded`.

    Raises
    ------
    ValueError
        A value out of range, or a wrong port.

    Real time
    ---------
    `step` is safe: no allocation, no Python; one evaluation of the dynamics.

    Source
    ------
    Two-stage observer, ECCOMAS Multibody Dynamics 2015, equations 13 and 16.
    """

    def __init__(self, str name, model, settings, *, reads=None, writes=None):
        cdef ForceState *s = &self.state
        s.model = observed_model(name, model)
        cdef int n = s.model.n_dof, i
        cdef double[::1] known_std, balance_std, walk_std
        mistakes = []
        known_std = one_each("known_noise", settings.known_noise, n, mistakes)
        balance_std = one_each("balance_noise", settings.balance_noise, n, mistakes)
        walk_std = one_each("walk_noise", settings.walk_noise, n, mistakes)
        if not 1 <= n <= MOST_DOF:
            mistakes.append(f"model of {n} dof: at most {MOST_DOF}")
        motion = tuple(f"{part}_{i}" for part in ("z", "zd", "zdd") for i in range(n))
        known = tuple(f"known_{i}" for i in range(n))
        unknown = (f"unknown_{i}" for i in range(n))
        ports = (reads or {}, writes or {}, (*motion, *known), (*known, *unknown, "nis", "repaired", "guarded"))
        mistakes += wrong_ports(ports, motion)
        if mistakes:
            raise ValueError(f"{name}: " + "; ".join(mistakes))
        s.cells.n = 2 * n
        self.wire(name, ports, {"motion": 3 * n, "known": n}, &s.cells, sizeof(ForceState), _lay_out, _advance)
        self.model, s.cells.cov = model, s.estimate.cov
        s.is_form_a = settings.form == "A"
        s.least_pivot = settings.least_pivot
        s.estimate.gate.limit, s.estimate.gate.patience = settings.gate_sigma ** 2, settings.gate_patience
        for i in range(n):
            s.known_var[i] = known_std[i] ** 2
            s.balance_var[i] = balance_std[i] ** 2
            s.walk_var[i] = walk_std[i] ** 2
            # a wide start, forgotten after one balance
            s.estimate.start_var[i] = s.estimate.start_var[n + i] = 1e6 * (
                s.known_var[i] + s.balance_var[i] + s.walk_var[i])
        begin_again(&s.estimate)

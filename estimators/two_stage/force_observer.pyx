"""Stage 2 of the two-stage observer: known and unknown forces from the motion of stage 1.

    mass zdd + bias = B1 F1 + B2 F2,    F1 measured, F2 not

    form A:  F1 = B1^-1 (mass zdd + bias - B2 F2) + noise,   F2 = F2 + noise
    form B:  F1 = F1 + noise,                                F2 = B2^-1 (mass zdd + bias - B1 F1) + noise

with the motion of this cycle, corrected by the F1 that is measured in it: the printed equations take
the motion of the cycle before, and with it a cycle of delay. The other force walks first, so that the balance
knows of it. Take the form whose inverse exists where the mechanism works: A if the unknown force has dead
centres. Where it does not, all forces walk at random.
"""
from libc.stdint cimport int64_t

from estimators.numerics.linear_solve cimport solve
from estimators.numerics.observed_model cimport observed_model
from estimators.ported_block cimport square
from estimators.numerics.small_covariance cimport (
    all_bounded, begin_anew, propagate, set_diagonal, take_gated,
)

import numpy as np

from estimators.ported_block import gate_mistakes, not_positive, one_each


cdef void _predict(ForceState *s, const double *motion) noexcept nogil:
    cdef int n = s.model.n_dof, n_x = 2 * n, i, j
    cdef double mass[MOST_DOF * MOST_DOF]
    cdef double tau[MOST_DOF]
    cdef double known[MOST_DOF * MOST_DOF]
    cdef double unknown[MOST_DOF * MOST_DOF]
    cdef double right[MOST_DOF * (MOST_DOF + 1)]    # [tau, B of the other force]
    cdef double f[MOST2]
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
    for i in range(n_x * n_x):
        f[i] = 0.0
    for i in range(n):
        f[(walking + i) * n_x + walking + i] = 1.0
    if solve(inverted, right, n, n + 1, s.least_pivot):
        for i in range(n):
            s.x[solved + i] = right[i * (n + 1)]
            for j in range(n):
                s.x[solved + i] -= right[i * (n + 1) + 1 + j] * s.x[walking + j]
                f[(solved + i) * n_x + walking + j] = -right[i * (n + 1) + 1 + j]
    else:
        s.n_guarded += 1
        for i in range(n):
            f[(solved + i) * n_x + solved + i] = 1.0
    for i in range(n):
        s.p[(walking + i) * n_x + walking + i] += s.walk_variance[i]
    propagate(s.p, f, n_x)
    for i in range(n):
        s.p[(solved + i) * n_x + solved + i] += s.balance_variance[i]


cdef void observe(ForceState *s, const double *motion, const double *known) noexcept nogil:
    """One cycle: predict with its motion, correct by its known forces; without a motion nothing changes."""
    cdef int n = s.model.n_dof, n_x = 2 * n, i
    s.nis = 0.0
    s.gate.used = 0
    s.has_motion = all_bounded(motion, 3 * n)
    if s.has_motion:
        _predict(s, motion)
        for i in range(n):
            s.nis += take_gated(s.x, s.p, i, known[i], s.known_variance[i], n_x, &s.gate)
        s.n_resets += begin_anew(s.p, s.initial, n_x)
        if not all_bounded(s.x, n_x):
            # overflowed: the next balance gives it again
            for i in range(n_x):
                s.x[i] = 0.0


cdef int _step(void *self, int64_t t_ns) noexcept nogil:
    cdef ForceState *s = <ForceState *>self
    cdef Ports *ports = s.ports
    cdef int n = s.model.n_dof, i
    cdef double motion[3 * MOST_DOF]
    cdef double known[MOST_DOF]
    for i in range(3 * n):
        motion[i] = ports.read[i][0]
    for i in range(n):
        known[i] = ports.read[3 * n + i][0]
    observe(s, motion, known)
    for i in range(2 * n):
        ports.write[i][0] = s.x[i]
    ports.write[2 * n][0] = s.nis
    ports.write[2 * n + 1][0] = <double>s.n_guarded
    ports.write[2 * n + 2][0] = <double>s.n_resets
    return 0


cdef class ForceObserver(PortedBlock):
    """Force observer: stage 2 of the two-stage observer, or after an encoder filter; a block.

    Parameters
    ----------
    name : str
        Name of the block.
    reads : mapping of str to str
        Port to signal path. `z_0` ..., `zd_0` ..., `zdd_0` ...: the motion; `known_0` ...: measured
        forces, NaN or not connected for none.
    writes : mapping of str to str
        `known_0` ..., `unknown_0` ...: the estimate; `nis`, `guarded`, `covariance_resets`.
    model : object
        With `model_capsule()`: an `ObservedModel`.
    form : {"A", "B"}
        Which force the dynamics are solved for: A the known, B the unknown one.
    known_noise : float or sequence of float
        Standard deviation of a measured known force, N or N m; one for all, or one each.
    balance_noise : float or sequence of float
        Standard deviation of the force that the dynamics give in a cycle.
    walk_noise : float or sequence of float
        Standard deviation of the random walk of the other force in a cycle.
    least_pivot : float, optional
        Of the matrix that the form inverts: below it counts as singular.
    gate_sigma : float, optional
        Innovation of a known force, in its standard deviations, above which it is rejected; 0: never.
    gate_patience : int, optional
        Rejected samples in a row after which the next one of that force is taken.

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

    def __init__(
        self, str name, reads, writes, *, model, str form, known_noise, balance_noise, walk_noise,
        double least_pivot=1e-6, double gate_sigma=0.0, int gate_patience=20,
    ):
        cdef ForceState *s = &self.state
        s.model = observed_model(name, model)
        cdef int n = s.model.n_dof, i
        cdef double[::1] known_std, balance_std, walk_std
        mistakes = not_positive(least_pivot=least_pivot) + gate_mistakes(gate_sigma, gate_patience)
        known_std = one_each("known_noise", known_noise, n, mistakes)
        balance_std = one_each("balance_noise", balance_noise, n, mistakes)
        walk_std = one_each("walk_noise", walk_noise, n, mistakes)
        if form not in ("A", "B"):
            mistakes.append(f"form = {form}: must be A or B")
        if not 1 <= n <= MOST_DOF:
            mistakes.append(f"model of {n} dof: at most {MOST_DOF}")
        if mistakes:
            raise ValueError(f"{name}: " + "; ".join(mistakes))
        motion = [f"{part}_{i}" for part in ("z", "zd", "zdd") for i in range(n)]
        known = [f"known_{i}" for i in range(n)]
        self.set_up(
            name, reads, writes, motion + known,
            known + [f"unknown_{i}" for i in range(n)] + ["nis", "guarded", "covariance_resets"],
            motion, _step, s)
        self.model, self.n_dof = model, n
        s.ports = &self.ports
        s.is_form_a = form == "A"
        s.least_pivot = least_pivot
        s.gate.limit, s.gate.patience = gate_sigma ** 2, gate_patience
        for i in range(n):
            s.known_variance[i] = known_std[i] ** 2
            s.balance_variance[i] = balance_std[i] ** 2
            s.walk_variance[i] = walk_std[i] ** 2
            # a wide start, forgotten after one balance
            s.initial[i] = s.initial[n + i] = 1e6 * (
                s.known_variance[i] + s.balance_variance[i] + s.walk_variance[i])
        set_diagonal(s.p, s.initial, 2 * n)

    @property
    def covariance(self):
        """Covariance of [F1, F2], shape (2 n, 2 n)."""
        return square(self.state.p, 2 * self.n_dof)

    def run(self, const double[:, ::1] motion, const double[:, ::1] known):
        """Step over whole arrays.

        Parameters
        ----------
        motion : ndarray of float64, shape (n_cycles, 3 n_dof)
            z, zd, zdd.
        known : ndarray of float64, shape (n_cycles, n_dof)
            Measured forces; NaN: none.

        Returns
        -------
        ndarray of float64, shape (n_cycles, 2 n_dof + 1)
            Known and unknown forces, and nis, of each cycle.

        Raises
        ------
        ValueError
            Wrong shapes.

        Real time
        ---------
        Not safe: allocates the result. The loop itself holds no GIL.
        """
        cdef Py_ssize_t cycles = motion.shape[0], i
        cdef int n = self.state.model.n_dof, j
        if motion.shape[1] != 3 * n or known.shape[0] != cycles or known.shape[1] != n:
            raise ValueError(
                f"{self.name}: motion ({cycles}, {motion.shape[1]}) and known forces "
                f"({known.shape[0]}, {known.shape[1]}) for {n} dof")
        cdef double[:, ::1] out = np.empty((cycles, 2 * n + 1))
        with nogil:
            for i in range(cycles):
                observe(&self.state, &motion[i, 0], &known[i, 0])
                for j in range(2 * n):
                    out[i, j] = self.state.x[j]
                out[i, 2 * n] = self.state.nis
        return np.asarray(out)

"""One cycle of an observer, whatever its kind: predict → correct, if there is a sample → look at the result → show.

Policies. A sample beyond the gate is rejected and counted; a sensor that has jumped is believed in the end, with the
covariance of the start, for the old one would move every other state by as much. A covariance that is not positive
definite is replaced by that of the start and counted. A position that cannot be found ends the cycle with its status:
the estimate stays as it was, and the loop gets the status. After many lost periods nothing is known of the state: its
covariance is the one of the start.
"""
# a vector of values that were just stored one by one waits until they have left the store buffer:
# compiled with -fno-tree-slp-vectorize -fno-tree-loop-distribute-patterns
from libc.math cimport fabs
from libc.string cimport memcpy, memset

from estimators.numerics.covariance cimport cholesky_rows, drift, joseph, project_rows, propagate
from estimators.numerics.gate cimport admits
from estimators.numerics.van_loan cimport van_loan

cdef enum:
    JUMP = 10       # times the gate: beyond that a sensor is in another place, and no covariance is merely too small
cdef double SAME = 0.2


cdef int restart_independent(ObserverState *s, const double *x) noexcept nogil:
    """At a state of the model, for filters whose own state it is."""
    memcpy(s.x, x, s.n * sizeof(double))
    return s.model.begin(s.model.self, s.x)


cdef void simple_transition(ObserverState *s) noexcept nogil:
    # the published transition [[I, h I], [0, I]]; unknown inputs stay
    cdef int i, n = s.n, half = <int>s.model.n_z if s.n == s.n_x else s.n // 2
    memset(s.transition, 0, n * n * sizeof(double))
    for i in range(n):
        s.transition[i * n + i] = 1.0
    for i in range(half):
        s.transition[i * n + half + i] = s.step_s


cdef void exact_transition(ObserverState *s) noexcept nogil:
    # of the forward Euler step: I + h [[0, I, 0], [zdd_x]]; the model is linearised
    cdef int i, j, n = s.n, half = <int>s.model.n_z
    simple_transition(s)
    for i in range(half):
        for j in range(n):
            s.transition[(half + i) * n + j] += s.step_s * s.model.zdd_x[i * n + j]


cdef int find_slopes(ObserverState *s) noexcept nogil:
    """Transition and noise of the coming step from the slopes where it begins; the model is placed there.

    Held ones are those of the start.
    """
    cdef int i, j, status, n = s.n, half = <int>s.model.n_z
    if not s.is_exact or (s.is_held and s.has_slopes):
        return 0
    status = s.model.linearise(s.model.self)
    if status != 0 or not s.is_discrete:
        return status
    memset(s.slopes, 0, n * n * sizeof(double))
    for i in range(half):
        s.slopes[i * n + half + i] = 1.0
        for j in range(n):
            s.slopes[(half + i) * n + j] = s.model.zdd_x[i * n + j]
    van_loan(s.slopes, s.rate_noise, s.step_s, s.transition, s.flow, s.proc_cov, s.work, n)
    s.has_slopes = True
    return 0


cdef void move(ObserverState *s, double *x) noexcept nogil:
    # x a step on, at the accelerations of the model: forward Euler, or exact for a linear mechanism
    cdef int i, j, n = s.n, half = <int>s.model.n_z
    cdef double sum
    if not s.is_discrete:
        for j in range(half):
            x[j] += s.step_s * x[half + j]
            x[half + j] += s.step_s * s.model.zdd[j]
        return
    for i in range(n):
        sum = 0.0
        for j in range(half):
            sum += s.flow[i * n + j] * x[half + j] + s.flow[i * n + half + j] * s.model.zdd[j]
        s.moved[i] = sum
    for i in range(n):
        x[i] += s.moved[i]


cdef void grow(ObserverState *s) noexcept nogil:
    # covariance of a step, with the slopes of its start in the model if they are wanted, as with unknown inputs always;
    # else one and two freedoms are unrolled
    if s.is_exact:
        if not s.is_discrete:
            exact_transition(s)
        propagate(s.cov, s.transition, s.proc_cov, s.work, s.n)
    elif s.n == 2:
        drift(s.cov, s.step_s, s.proc_cov, 1, 2)
    elif s.n == 4:
        drift(s.cov, s.step_s, s.proc_cov, 2, 4)
    else:
        drift(s.cov, s.step_s, s.proc_cov, <int>s.model.n_z, s.n)


cdef inline bint _has_jumped(ObserverState *s, int i, double left, double squared) noexcept nogil:
    # a sensor that agreed, and then was off by the same for as long as the patience lasts, and by ten times the gate;
    # those of an estimate that is astray were not in agreement, or are off by different amounts
    return (
        s.gate.limit > 0.0 and s.gate.n_refused[i] >= s.gate.patience and s.n_agreed[i] >= s.gate.patience
        and squared > JUMP * JUMP * s.gate.limit
        and fabs(left - s.first_refused[i]) < SAME * fabs(left))


cdef inline int _fold(ObserverState *s, const double *sample, int n) noexcept nogil:
    cdef int i, j
    cdef double inverse, left, squared
    memset(s.dx, 0, n * sizeof(double))
    for i in range(s.n_y):
        if not sample[i] == sample[i]:
            continue
        left = s.innovation[i] = sample[i] - s.reading[i]
        for j in range(n):
            left -= s.slope[i * n + j] * s.dx[j]
        inverse = 1.0 / (s.meas_var[i] + project_rows(s.cov, s.slope + i * n, s.ph, n))
        squared = left * left * inverse
        if s.gate.n_refused[i] == 0:
            s.first_refused[i] = left
        if _has_jumped(s, i, left, squared):
            memcpy(s.cov, s.start_cov, n * n * sizeof(double))
            s.n_repaired += 1
            inverse = 1.0 / (s.meas_var[i] + project_rows(s.cov, s.slope + i * n, s.ph, n))
            squared = left * left * inverse
        if not admits(&s.gate, i, squared):
            continue
        s.n_agreed[i] = s.n_agreed[i] + 1 if squared <= s.gate.limit else 0
        s.nis += squared
        for j in range(n):
            s.gain[j] = s.ph[j] * inverse
            s.dx[j] += s.gain[j] * left
        joseph(s.cov, s.slope + i * n, s.gain, s.ph, s.meas_var[i], s.work, n)
    return s.gate.used


cdef int fold_scalars(ObserverState *s, const double *sample) noexcept nogil:
    """Measurement update, one sensor after the other, in Joseph's form.

    With independent sensors that is the update with all of them at once; a missing or rejected one is left out. Reads
    `reading` and `slope` at the predicted state, fills `dx`; returns how many went in.
    """
    # one and two freedoms unrolled
    if s.n == 2:
        return _fold(s, sample, 2)
    if s.n == 4:
        return _fold(s, sample, 4)
    return _fold(s, sample, s.n)


cdef void show(ObserverState *s) noexcept nogil:
    # order of `write_ports`
    cdef int i, n = s.n, n_x = s.n_x, at
    cdef double *value = s.cells.value
    for i in range(n_x):
        at = s.place_of[i]
        value[i] = s.x[at]
        value[n_x + i] = s.cov[at * n + at]     # a variance: no square root in the cycle
    value += 2 * n_x
    for i in range(s.n_y):
        value[i] = s.innovation[i]
    value += s.n_y
    value[0], value[1], value[2] = s.nis, s.nis_low[s.gate.used], s.nis_high[s.gate.used]
    value[3], value[4] = s.gate.used, <double>s.gate.n_rejected
    value[5], value[6] = <double>s.n_repaired, s.status


cdef inline bint _is_finite(const double *x, int n) noexcept nogil:
    cdef int i
    cdef double sum = 0.0
    for i in range(n):
        sum += x[i] - x[i]
    return sum == 0.0


cdef inline bint _is_positive(ObserverState *s, int n) noexcept nogil:
    cdef int i
    if not s.is_singular:
        return cholesky_rows(s.cov, s.work, n) == n
    for i in range(n):
        if not s.cov[i * n + i] >= 0.0:
            return False
    return True


cdef inline void _copy(double *to, const double *given, int n) noexcept nogil:
    cdef int i
    for i in range(n):
        to[i] = given[i]


cdef inline void _finish(ObserverState *s, bint is_corrected, int n) noexcept nogil:
    # keep a good result, go back to the last good one else
    if is_corrected and s.status == 0 and not _is_positive(s, n):
        memcpy(s.cov, s.start_cov, n * n * sizeof(double))
        s.n_repaired += 1
    if s.status == 0 and not _is_finite(s.x, n):
        s.status = 4
    if s.status == 0:
        _copy(s.x_before, s.x, n)
        _copy(s.cov_before, s.cov, n * n)
    else:
        _copy(s.x, s.x_before, n)
        _copy(s.cov, s.cov_before, n * n)


cdef int advance(void *state) noexcept nogil:
    """One cycle with the samples and inputs that are given; an input that is NaN keeps its last value."""
    cdef ObserverState *s = <ObserverState *>state
    cdef const double *sample = s.cells.given
    cdef const double *inputs = sample + s.n_y
    cdef int i
    cdef bint has_sample = False
    for i in range(s.n_u):
        if inputs[i] == inputs[i]:
            s.model.u[i] = inputs[i]
    s.nis = 0.0
    s.gate.used = 0
    for i in range(s.n_y):
        s.innovation[i] = 0.0
        has_sample = has_sample or sample[i] == sample[i]
    s.status = s.predict(s)
    if s.status == 0 and has_sample:
        s.status = s.correct(s, sample)
    s.cells.n_done += 1 + s.gate.used
    # one and two freedoms unrolled
    if s.n == 2:
        _finish(s, has_sample, 2)
    elif s.n == 4:
        _finish(s, has_sample, 4)
    else:
        _finish(s, has_sample, s.n)
    show(s)
    return s.status


cdef void forget(void *state) noexcept nogil:
    cdef ObserverState *s = <ObserverState *>state
    memcpy(s.cov, s.start_cov, s.n * s.n * sizeof(double))
    memcpy(s.cov_before, s.cov, s.n * s.n * sizeof(double))
    s.n_repaired += 1

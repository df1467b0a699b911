"""One cycle of an observer, whatever its kind: predict → correct, if there is a sample → look at the result → show.

Policies. A sample beyond the gate is rejected and counted; after `patience` in a row the next one of that sensor is
taken, so that an estimate that has gone astray finds back. A covariance that is not positive definite is replaced by
that of the start and counted. A position that cannot be found ends the cycle with its status: the estimate stays as
it was, and the loop gets the status. Periods that the loop lost are predicted over, twenty at most.
"""
# a vector of values that were just stored one by one waits until they have left the store buffer:
# compiled with -fno-tree-slp-vectorize -fno-tree-loop-distribute-patterns
from libc.math cimport NAN
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from estimators.numerics.covariance cimport cholesky, drift, joseph, project, propagate


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


cdef void grow(ObserverState *s) noexcept nogil:
    # covariance of a step, with the slopes of its start in the model if they are wanted, as with unknown inputs always;
    # else one and two freedoms are unrolled
    if s.is_exact:
        exact_transition(s)
        propagate(s.cov, s.transition, s.proc_cov, s.work, s.n)
    elif s.n == 2:
        drift(s.cov, s.step_s, s.proc_cov, 1, 2)
    elif s.n == 4:
        drift(s.cov, s.step_s, s.proc_cov, 2, 4)
    else:
        drift(s.cov, s.step_s, s.proc_cov, <int>s.model.n_z, s.n)


cdef inline int _fold(ObserverState *s, const double *sample, int n) noexcept nogil:
    cdef int i, j, used = 0
    cdef double inverse, left, squared
    memset(s.dx, 0, n * sizeof(double))
    for i in range(s.n_y):
        if not sample[i] == sample[i]:
            continue
        left = s.innovation[i] = sample[i] - s.reading[i]
        for j in range(n):
            left -= s.slope[i * n + j] * s.dx[j]
        inverse = 1.0 / (s.meas_var[i] + project(s.cov, s.slope + i * n, s.ph, n))
        squared = left * left * inverse
        if s.gate > 0.0 and not squared <= s.gate and s.n_refused[i] < s.patience:
            s.n_refused[i] += 1
            s.n_rejected += 1
            continue
        s.n_refused[i] = 0
        s.nis += squared
        used += 1
        for j in range(n):
            s.gain[j] = s.ph[j] * inverse
            s.dx[j] += s.gain[j] * left
        joseph(s.cov, s.slope + i * n, s.gain, s.ph, s.meas_var[i], s.work, n)
    s.used = used
    return used


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
    cdef int i, n = s.n, at, k = 0
    for i in range(s.n_x):
        s.value[k] = s.x[s.place_of[i]]
        k += 1
    for i in range(s.n_x):
        at = s.place_of[i]
        s.value[k] = s.cov[at * n + at]     # a variance: no square root in the cycle
        k += 1
    for i in range(s.n_y):
        s.value[k] = s.innovation[i]
        k += 1
    s.value[k] = s.nis
    s.value[k + 1] = s.nis_low[s.used]
    s.value[k + 2] = s.nis_high[s.used]
    s.value[k + 3] = s.used
    s.value[k + 4] = <double>s.n_rejected
    s.value[k + 5] = <double>s.n_repaired
    s.value[k + 6] = s.status


cdef inline bint _is_finite(const double *x, int n) noexcept nogil:
    cdef int i
    cdef double sum = 0.0
    for i in range(n):
        sum += x[i] - x[i]
    return sum == 0.0


cdef inline bint _is_positive(ObserverState *s, int n) noexcept nogil:
    cdef int i
    if not s.is_singular:
        return cholesky(s.cov, s.work, n) == n
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


cdef void advance(ObserverState *s) noexcept nogil:
    """One cycle with the inputs in the model and the samples in `sample`; fills `value`."""
    cdef int i
    cdef bint has_sample = False
    s.nis = 0.0
    s.used = 0
    for i in range(s.n_y):
        s.innovation[i] = 0.0
        has_sample = has_sample or s.sample[i] == s.sample[i]
    s.status = s.predict(s)
    if s.status == 0 and has_sample:
        s.status = s.correct(s, s.sample)
    s.n_done += 1 + s.used
    # one and two freedoms unrolled
    if s.n == 2:
        _finish(s, has_sample, 2)
    elif s.n == 4:
        _finish(s, has_sample, 4)
    else:
        _finish(s, has_sample, s.n)
    show(s)


cdef void catch_up(ObserverState *s, int64_t t_ns) noexcept nogil:
    """Take the periods that the loop lost before the cycle of `t_ns`, without samples, inputs as they are now.

    After more than `MOST_LOST` of them nothing is known of the state: the covariance is the one of the start.
    """
    cdef int i, _period, lost = 0
    cdef int64_t gap = (t_ns - s.last_ns) // s.step_ns - 1 if s.last_ns >= 0 else 0
    s.last_ns = t_ns
    if gap <= 0:
        return
    s.n_periods += gap
    lost = <int>min(gap, <int64_t>MOST_LOST)
    for i in range(s.n_y):
        s.sample[i] = NAN
    for _period in range(lost):
        advance(s)
    if gap > MOST_LOST:
        memcpy(s.cov, s.start_cov, s.n * s.n * sizeof(double))
        memcpy(s.cov_before, s.cov, s.n * s.n * sizeof(double))
        s.n_repaired += 1

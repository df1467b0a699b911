"""Rauch-Tung-Striebel smoother of encoder angles: the motion, seen from the end.

Forward the Kalman filter of `encoder_gains` at the times of the samples, backward

    x_k|n = x_k + C (x_k+1|n - F x_k),   P_k|n = P_k + C (P_k+1|n - P-_k+1) C',   C = P_k F' (P-_k+1)^-1

scaled as there. It has no lag, and about half the noise of the filter; it needs the future, so it
belongs to replay and identification.
"""

from estimators.numerics.covariance cimport propagate, set_diagonal, take_row
from estimators.numerics.linear_solve cimport solve

import math

import numpy as np

from estimators.encoder.gains import process_noise

cdef enum:
    MOST_STATES = 4

cdef struct Samples:
    const double *t
    const double *y
    Py_ssize_t count
    int n                        # states
    double w0
    const double *noise          # w0 T Q(1), (n, n)
    const double *initial        # variances of the first state

cdef struct Motion:              # in scaled units
    double *x                    # (count, n)
    double *p                    # (count, n, n)
    double *innovation
    double *variance


cdef void _transition(double e, int n, double *f, double *q, const double *noise) noexcept nogil:
    # F and Q over e = w0 dt; `noise` is w0 T Q(1)
    cdef double power[8]
    cdef int i, j
    cdef double factorial
    power[0] = 1.0
    for i in range(1, 2 * n):
        power[i] = power[i - 1] * e
    for i in range(n):
        factorial = 1.0
        for j in range(n):
            f[i * n + j] = 0.0
            if j > i:
                factorial *= j - i
            if j >= i:
                f[i * n + j] = power[j - i] / factorial
            q[i * n + j] = noise[i * n + j] * power[2 * n - 1 - i - j]


cdef void _forward(const Samples *samples, const Motion *motion) noexcept nogil:
    # x and p corrected
    cdef int n = samples.n
    cdef const double *t = samples.t
    cdef const double *y = samples.y
    cdef double *x = motion.x
    cdef double *p = motion.p
    cdef double *innovation = motion.innovation
    cdef double *variance = motion.variance
    cdef double f[16]
    cdef double q[16]
    cdef double h[4]
    cdef double now[4]
    cdef double cov[16]
    cdef double work[16 + 12]
    cdef Py_ssize_t k
    cdef int i, j
    for i in range(n):
        h[i] = 1.0 if i == 0 else 0.0
        now[i] = y[0] if i == 0 else 0.0
    set_diagonal(cov, samples.initial, n)
    innovation[0], variance[0] = 0.0, samples.initial[0] + 1.0
    for k in range(samples.count):
        if k > 0:
            _transition(samples.w0 * (t[k] - t[k - 1]), n, f, q, samples.noise)
            for i in range(n):
                now[i] = 0.0
                for j in range(i, n):
                    now[i] += f[i * n + j] * x[(k - 1) * n + j]
            propagate(cov, f, NULL, work, n)
            for i in range(n * n):
                cov[i] += q[i]
            innovation[k] = y[k] - now[0]
            variance[k] = take_row(now, cov, h, innovation[k], 1.0, work, n)
        for i in range(n):
            x[k * n + i] = now[i]
        for i in range(n * n):
            p[k * n * n + i] = cov[i]


cdef bint _backward(const Samples *samples, const Motion *motion) noexcept nogil:
    # in place; false if a predicted covariance has no inverse
    cdef int n = samples.n
    cdef const double *t = samples.t
    cdef double f[16]
    cdef double q[16]
    cdef double before[16]       # P-_k+1
    cdef double work[16]
    cdef double spoilt[16]
    cdef double right[16]        # F P_k, then C'
    cdef double gap[4]
    cdef double change[16]
    cdef double total
    cdef double *px
    cdef double *pp
    cdef Py_ssize_t k
    cdef int i, j, m
    for k in range(samples.count - 2, -1, -1):
        px, pp = &motion.x[k * n], &motion.p[k * n * n]
        _transition(samples.w0 * (t[k + 1] - t[k]), n, f, q, samples.noise)
        for i in range(n):
            gap[i] = px[n + i]
            for j in range(i, n):
                gap[i] -= f[i * n + j] * px[j]
            for j in range(n):
                total = 0.0
                for m in range(i, n):
                    total += f[i * n + m] * pp[m * n + j]
                right[i * n + j] = total
        for i in range(n * n):
            before[i] = pp[i]
        propagate(before, f, NULL, work, n)
        for i in range(n * n):
            before[i] += q[i]
            spoilt[i] = before[i]
            change[i] = pp[n * n + i] - before[i]
        if not solve(spoilt, right, n, n, 0.0):
            return False
        for i in range(n):
            for j in range(n):
                px[i] += right[j * n + i] * gap[j]
        # P += C change C' = right' change right, one triangle for both
        for i in range(n):
            for j in range(n):
                total = 0.0
                for m in range(n):
                    total += right[m * n + i] * change[m * n + j]
                spoilt[i * n + j] = total
        for i in range(n):
            for j in range(i, n):
                total = 0.0
                for m in range(n):
                    total += spoilt[i * n + m] * right[m * n + j]
                pp[i * n + j] += total
                pp[j * n + i] = pp[i * n + j]
    return True


def filter_pass(t_s, angle_rad, double bandwidth_rad_s, double sample_period_s, int n_states=3):
    """Filter alone: innovations and their variances, in variances of a sample.

    Parameters
    ----------
    t_s, angle_rad : ndarray of float64, shape (n,)
        Samples, times strictly increasing.
    bandwidth_rad_s, sample_period_s : float
        As of `encoder_gains.steady_state`.
    n_states : int, optional
        2, 3 or 4.

    Returns
    -------
    innovation_rad, variance : ndarray of float64, shape (n,)
        The first innovation is 0: the first sample starts the filter.

    Raises
    ------
    ValueError
        Times that do not increase, or lengths that differ.

    Real time
    ---------
    Not safe: allocates. The loop holds no GIL.

    Source
    ------
    Rauch, Tung, Striebel 1965, doi:10.2514/3.3166.
    """
    return _run(t_s, angle_rad, bandwidth_rad_s, sample_period_s, n_states, False)[2:]


def smooth(
    t_s, angle_rad, double bandwidth_rad_s, double sample_period_s, double noise_rad,
    int n_states=3,
):
    """Smoothed motion at the samples.

    Parameters
    ----------
    t_s, angle_rad, bandwidth_rad_s, sample_period_s, n_states
        As of `filter_pass`.
    noise_rad : float
        Standard deviation of a sample; it scales the covariance only.

    Returns
    -------
    state : ndarray of float64, shape (n, n_states)
        Angle, rate, acceleration, jerk.
    covariance : ndarray of float64, shape (n, n_states, n_states)

    Raises
    ------
    ValueError
        Times that do not increase, lengths that differ, or a covariance without inverse.

    Real time
    ---------
    Not safe: allocates. The loops hold no GIL.

    Source
    ------
    Rauch, Tung, Striebel 1965, doi:10.2514/3.3166.
    """
    x, p, _, _ = _run(t_s, angle_rad, bandwidth_rad_s, sample_period_s, n_states, True)
    scale = bandwidth_rad_s ** np.arange(n_states)
    return x * scale, noise_rad ** 2 * p * np.outer(scale, scale)


cdef _run(t_s, angle_rad, double w0, double period_s, int n, bint backward):
    cdef const double[::1] t = np.ascontiguousarray(t_s, float)
    cdef const double[::1] y = np.ascontiguousarray(angle_rad, float)
    cdef Py_ssize_t samples = t.shape[0]
    if y.shape[0] != samples or samples < 2 or not np.all(np.diff(t_s) > 0.0):
        raise ValueError(f"{samples} times, {y.shape[0]} angles: times must increase, one an angle")
    if n not in (2, 3, 4) or not (math.isfinite(w0 * period_s) and w0 > 0.0 and period_s > 0.0):
        raise ValueError(f"n_states = {n}, bandwidth {w0} rad/s, period {period_s} s: out of range")
    cdef const double[:, ::1] noise = np.ascontiguousarray(w0 * period_s * process_noise(1.0, n))
    # wide, but not so wide that digits are lost: a hundred times the value from one difference of samples
    cdef const double[::1] initial = np.r_[
        1.0, 1e4 / min(1.0, w0 * period_s) ** (2.0 * np.arange(1, n))]
    cdef double[:, ::1] x = np.empty((samples, n))
    cdef double[:, :, ::1] p = np.empty((samples, n, n))
    cdef double[::1] innovation = np.empty(samples)
    cdef double[::1] variance = np.empty(samples)
    cdef bint good = True
    cdef Samples given = Samples(&t[0], &y[0], samples, n, w0, &noise[0, 0], &initial[0])
    cdef Motion motion = Motion(&x[0, 0], &p[0, 0, 0], &innovation[0], &variance[0])
    with nogil:
        _forward(&given, &motion)
        if backward:
            good = _backward(&given, &motion)
    if not good:
        raise ValueError("a predicted covariance has no inverse")
    return np.asarray(x), np.asarray(p), np.asarray(innovation), np.asarray(variance)

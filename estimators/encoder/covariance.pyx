"""Gains of the encoder filter: covariance at the times that the samples have.

Scaled as in `encoder_gains`: state i by w0^i, and all by the variance of a sample. Then

    F = [e^(j-i) / (j-i)!],   Q = w0 T [e^(2n-1-i-j) / ((n-1-i)! (n-1-j)! (2n-1-i-j))],   R = 1

with e = w0 dt for whatever dt the samples have; T is the nominal sample period, which w0 belongs to.

Kept as P = U D U' with U unit upper triangular (Bierman 1977, doi:10.1016/0005-1098(76)90035-1;
Thornton's weighted Gram-Schmidt for the prediction): positive definite as long as D is positive,
whatever the spread of the variances; a wide start loses no digits.

Samples at one interval bring the covariance to rest. As long as that interval lasts, nothing is
computed again: the gains of the steady state cost no more than constants do.
"""
from libc.math cimport fabs

cdef inline double at_rest() noexcept nogil:
    return 1e-12        # largest relative change in a sample, of each number of U and D


cdef void restart(EncoderCovariance *c) noexcept nogil:
    cdef int i
    c.resting_dt_s = c.dt_s = 0.0
    for i in range(c.n * c.n):
        c.u[i] = 0.0
    for i in range(c.n):
        c.u[i * c.n + i] = 1.0
        c.d[i] = c.initial[i]


cdef void predict_anyhow(EncoderCovariance *c, double dt_s) noexcept nogil:
    """P- = F P+ F' + Q over dt; fills `gain` and `innovation_variance` for a sample then."""
    cdef int n = c.n, i, j, k
    cdef double w[MOST_STATES][2 * MOST_STATES]    # [F U, U of Q], with the weights:
    cdef double weight[2 * MOST_STATES]
    cdef double power[MOST_STATES]          # e^i
    cdef double step[MOST_STATES]           # e^i / i!
    cdef double e = c.bandwidth_rad_s * dt_s, total, scale
    c.dt_s = dt_s
    c.resting_dt_s = 0.0
    power[0] = step[0] = 1.0
    for i in range(1, n):
        power[i] = power[i - 1] * e
        step[i] = step[i - 1] * e / i
    for j in range(n):
        weight[j], weight[n + j] = c.d[j], e * c.noise_d[j]
        for i in range(n):
            total = 0.0
            for k in range(i, j + 1):
                total += step[k - i] * c.u[k * n + j]
            w[i][j] = total
            w[i][n + j] = power[n - 1 - i] * c.noise_u[i * n + j]
    for i in range(n - 1, -1, -1):
        total = 0.0
        for k in range(2 * n):
            total += w[i][k] * w[i][k] * weight[k]
        c.d_before[i] = total
        c.u_before[i * n + i] = 1.0
        for j in range(i):
            c.u_before[i * n + j] = 0.0
            total = 0.0
            for k in range(2 * n):
                total += w[j][k] * weight[k] * w[i][k]
            total /= c.d_before[i]
            c.u_before[j * n + i] = total
            for k in range(2 * n):
                w[j][k] -= total * w[i][k]
    c.innovation_variance = 1.0
    for j in range(n):
        c.innovation_variance += c.u_before[j] * c.u_before[j] * c.d_before[j]
    c.nis_per_square = 1.0 / c.innovation_variance
    scale = 1.0
    for i in range(n):
        total = 0.0
        for j in range(i, n):
            total += c.u_before[i * n + j] * c.d_before[j] * c.u_before[j]
        c.gain[i] = total / c.innovation_variance * scale
        scale *= c.bandwidth_rad_s


cdef void update_anyhow(EncoderCovariance *c) noexcept nogil:
    """P+ = (I - K H) P-, H = [1, 0 ...], by Bierman's update of U and D.

    A variance that is not positive, or not finite: it starts again, and is counted.
    """
    cdef int n = c.n, i, j
    cdef double k[MOST_STATES]
    cdef double alpha = 1.0, before, u, corrected
    cdef bint good = True, rests = True
    for j in range(n):
        k[j] = c.d_before[j] * c.u_before[j]
        before = alpha
        alpha += c.u_before[j] * k[j]
        corrected = c.d_before[j] * (before / alpha)
        rests = rests and fabs(corrected - c.d[j]) <= at_rest() * corrected
        c.d[j] = corrected
        good = good and 0.0 < corrected < 1e300
        for i in range(j):
            u = c.u_before[i * n + j]
            corrected = u - k[i] * (c.u_before[j] / before)
            rests = rests and fabs(corrected - c.u[i * n + j]) <= at_rest() * fabs(corrected)
            c.u[i * n + j] = corrected
            k[i] += u * k[j]
    if not good:
        c.n_resets += 1
        restart(c)
    elif rests:
        c.resting_dt_s = c.dt_s

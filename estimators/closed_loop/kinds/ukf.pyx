"""UKF: unscented Kalman filter on independent coordinates, forward Euler, no slopes at all; or the exact step of
the slopes at the mean, for stiff mechanisms.

2 n points x +- columns of sqrt(n) L, P = L L^T, each of weight 1/(2 n); the middle one has weight 0 and is left out.
Points are drawn again before they are measured, so that a linear mechanism gives exactly the Kalman filter.

The update is one of square roots. A has a row a state: deviations of the points, times sqrt(1/(2 n)), and a column
of zeros a sensor; B has a row a sensor: deviations of its readings, and its own noise in its own column. Then

    P = A A^T,  s = b b^T,  K = A b^T / s,   A <- A - K b,   B <- B - (B b^T / s) b      for each sensor's row b

which is P - K Pyy K^T with all sensors at once, but a sum of squares: it cannot lose its sign.
"""
from libc.math cimport sqrt
from libc.string cimport memcpy, memset

from estimators.numerics.covariance cimport cholesky, mirror
from estimators.numerics.gate cimport admits
from estimators.closed_loop.observer cimport Observer
from estimators.closed_loop.cycle cimport ObserverState, find_slopes, move, restart_independent
from estimators.closed_loop.model cimport ObserverModel


cdef bint _draw(ObserverState *s) noexcept nogil:
    # deviations of the points, unweighted, in the rows of A; False where cov has no root
    cdef int i, k, n = s.n, width = 2 * s.n + s.n_y
    cdef double reach = sqrt(<double>n)
    cdef double *lower = s.work
    cdef double *a = s.work + n * n
    memset(s.work, 0, (n * n + (n + s.n_y) * width) * sizeof(double))
    if cholesky(s.cov, lower, n) < n:
        return False
    for i in range(n):
        for k in range(i + 1):
            a[i * width + 2 * k] = reach * lower[i * n + k]
            a[i * width + 2 * k + 1] = -reach * lower[i * n + k]
    return True


cdef void _square(ObserverState *s, const double *a, bint is_predicted) noexcept nogil:
    # cov = A A^T, and the process noise when predicted
    cdef int i, j, k, n = s.n, width = 2 * s.n + s.n_y
    cdef double sum
    for i in range(n):
        for j in range(i + 1):
            sum = s.proc_cov[i * n + j] if is_predicted else 0.0
            for k in range(width):
                sum += a[i * width + k] * a[j * width + k]
            s.cov[i * n + j] = sum
    mirror(s.cov, n)


cdef double _centre(double *row, int n) noexcept nogil:
    # values at the points as weighted deviations from their mean, which is returned
    cdef int k
    cdef double share = 1.0 / (2.0 * n), scale = sqrt(share), mean = 0.0
    for k in range(2 * n):
        mean += share * row[k]
    for k in range(2 * n):
        row[k] = scale * (row[k] - mean)
    return mean


cdef int _predict(ObserverState *s) noexcept nogil:
    cdef ObserverModel *m = s.model
    cdef int i, k, status = 0, n = s.n, width = 2 * s.n + s.n_y
    cdef double *a = s.work + n * n
    cdef double *point = s.ph
    if s.is_discrete and not s.is_held:
        status = m.place(m.self, s.x)
        if status == 0:
            status = find_slopes(s)
        if status != 0:
            return status
    if not _draw(s):
        memcpy(s.cov, s.start_cov, n * n * sizeof(double))
        s.n_repaired += 1
        _draw(s)
    for k in range(2 * n):
        for i in range(n):
            point[i] = s.x[i] + a[i * width + k]
        status = m.place(m.self, point)
        if status == 0:
            status = m.accelerate(m.self)
        if status != 0:
            return status
        move(s, point)
        for i in range(n):
            a[i * width + k] = point[i]
    for i in range(n):
        s.x[i] = _centre(a + i * width, n)
    _square(s, a, True)
    return 0


cdef int _correct(ObserverState *s, const double *sample) noexcept nogil:
    cdef ObserverModel *m = s.model
    cdef int i, j, k, status, n = s.n, n_y = s.n_y, width = 2 * s.n + s.n_y
    cdef double *a = s.work + n * n
    cdef double *b = a + n * width
    cdef double *row
    cdef double variance, left, squared, share
    if not _draw(s):
        return 4
    for k in range(2 * n):
        for i in range(n):
            s.ph[i] = s.x[i] + a[i * width + k]
        status = m.place(m.self, s.ph)
        if status == 0:
            status = m.sense(m.self)
        if status != 0:
            return status
        for j in range(n_y):
            b[j * width + k] = m.y[j]
    for i in range(n):
        _centre(a + i * width, n)
    for j in range(n_y):
        s.reading[j] = _centre(b + j * width, n)
        b[j * width + 2 * n + j] = sqrt(s.meas_var[j])
        if sample[j] == sample[j]:
            s.innovation[j] = sample[j] - s.reading[j]
    # rows of B follow those of A: the rest of each is updated alike
    for j in range(n_y):
        if not sample[j] == sample[j]:
            continue
        row = b + j * width
        variance = 0.0
        for k in range(width):
            variance += row[k] * row[k]
        left = sample[j] - s.reading[j]
        squared = left * left / variance
        if not admits(&s.gate, j, squared):
            continue
        s.nis += squared
        for i in range(n + n_y):
            if n <= i <= n + j:
                continue
            share = 0.0
            for k in range(width):
                share += a[i * width + k] * row[k]
            share /= variance
            for k in range(width):
                a[i * width + k] -= share * row[k]
            if i < n:
                s.x[i] += share * left
            else:
                s.reading[i - n] += share * left
    _square(s, a, False)
    return 0


cdef class Ukf(Observer):
    __doc__ = Observer.__doc__
    published = "UKF"
    discretises = True

    cdef void attach(self):
        self.take(_predict, _correct, restart_independent)

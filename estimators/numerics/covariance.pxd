"""Small dense symmetric matrices in the cycle: row-major C arrays, no library, bounded loops.

    propagate   P <- F P F^T + Q
    drift       the same with F = [[I, h I, 0], [0, I, 0], [0, 0, I]]
    joseph      one scalar measurement, in Joseph's form: P <- (I - k h) P (I - k h)^T + r k k^T
    take_row    a scalar measurement as a whole, x and P
    cholesky    P = L L^T, or how many of its leading columns are positive definite

The result is symmetric to the last bit: the lower half is computed, the upper one copied.

Source: Bucy and Joseph 1968, Filtering for Stochastic Processes with Applications to Guidance, ch. 16.
"""
from libc.math cimport sqrt

cdef inline void mirror(double *p, int n) noexcept nogil:
    cdef int i, j
    for i in range(n):
        for j in range(i):
            p[j * n + i] = p[i * n + j]


cdef inline void propagate(double *p, const double *f, const double *q, double *work, int n) noexcept nogil:
    # q: NULL adds nothing; work: n^2 cells
    cdef int i, j, k
    cdef double sum
    for i in range(n):
        for j in range(n):
            sum = 0.0
            for k in range(n):
                sum += f[i * n + k] * p[k * n + j]
            work[i * n + j] = sum
    for i in range(n):
        for j in range(i + 1):
            sum = 0.0 if q == NULL else q[i * n + j]
            for k in range(n):
                sum += work[i * n + k] * f[j * n + k]
            p[i * n + j] = sum
    mirror(p, n)


cdef inline void drift(double *p, double h, const double *q, int half, int n) noexcept nogil:
    cdef int i, j
    for i in range(half):
        for j in range(n):
            p[i * n + j] += h * p[(half + i) * n + j]
    for i in range(n):
        for j in range(half):
            p[i * n + j] += h * p[i * n + half + j]
    for i in range(n):
        for j in range(i + 1):
            p[i * n + j] += q[i * n + j]
    mirror(p, n)


cdef inline double project(const double *p, const double *h, double *ph, int n) noexcept nogil:
    # ph = P h^T; returns h P h^T
    cdef int i, j
    cdef double sum, variance = 0.0
    for i in range(n):
        sum = 0.0
        for j in range(n):
            sum += p[i * n + j] * h[j]
        ph[i] = sum
        variance += h[i] * sum
    return variance


cdef inline void joseph(
    double *p, const double *h, const double *gain, const double *ph, double r, double *work, int n,
) noexcept nogil:
    # ph = P h^T with P before; work: n^2 + n cells
    cdef int i, j
    cdef double sum
    cdef double *ah = work + n * n
    for i in range(n):
        sum = 0.0
        for j in range(n):
            work[i * n + j] = p[i * n + j] - gain[i] * ph[j]
            sum += work[i * n + j] * h[j]
        ah[i] = sum - r * gain[i]
    for i in range(n):
        for j in range(i + 1):
            p[i * n + j] = work[i * n + j] - ah[i] * gain[j]
    mirror(p, n)


cdef inline double take_row(
    double *x, double *p, const double *h, double innovation, double variance, double *work, int n,
) noexcept nogil:
    # x <- x + K innovation, P by Joseph's form; returns the innovation's variance; work: n^2 + 3 n cells
    cdef double *ph = work + n * n + n
    cdef double *gain = ph + n
    cdef double total = variance + project(p, h, ph, n)
    cdef int i
    for i in range(n):
        gain[i] = ph[i] / total
        x[i] += gain[i] * innovation
    joseph(p, h, gain, ph, variance, work, n)
    return total


cdef inline void set_diagonal(double *p, const double *diagonal, int n) noexcept nogil:
    cdef int i
    for i in range(n * n):
        p[i] = 0.0
    for i in range(n):
        p[i * n + i] = diagonal[i]


cdef inline int cholesky(const double *p, double *lower, int n) noexcept nogil:
    # lower half of `lower`; stops before the first pivot that is not positive or not finite and returns its
    # number, n if none
    cdef int i, j, k
    cdef double sum
    for j in range(n):
        sum = p[j * n + j]
        for k in range(j):
            sum -= lower[j * n + k] * lower[j * n + k]
        if not 0.0 < sum < 1e300:
            return j
        lower[j * n + j] = sqrt(sum)
        for i in range(j + 1, n):
            sum = p[i * n + j]
            for k in range(j):
                sum -= lower[i * n + k] * lower[j * n + k]
            lower[i * n + j] = sum / lower[j * n + j]
    return n

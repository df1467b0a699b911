"""Covariances of estimates small enough for the stack: prediction, Joseph update, test for positive definiteness.

Matrices are row by row in flat arrays, at most `MOST` by `MOST`. Measurements with uncorrelated
noise are taken one after the other: no matrix is ever inverted.
"""

cdef enum:
    MOST = 12           # states
    MOST2 = 144


cdef inline void propagate(double *p, const double *f, int n) noexcept nogil:
    # P <- F P F'; both triangles
    cdef double half[MOST2]
    cdef double total
    cdef int i, j, k
    for i in range(n):
        for j in range(n):
            total = 0.0
            for k in range(n):
                total += f[i * n + k] * p[k * n + j]
            half[i * n + j] = total
    for i in range(n):
        for j in range(i, n):
            total = 0.0
            for k in range(n):
                total += half[i * n + k] * f[j * n + k]
            p[i * n + j] = p[j * n + i] = total


cdef inline double take_scalar(
    double *x, double *p, const double *h, double innovation, double variance, int n
) noexcept nogil:
    """Take one scalar measurement: x <- x + K innovation, P by Joseph's form; return its variance.

    P+ = (I - K h') P (I - K h')' + K r K'. Cost O(n^2).
    """
    cdef double ph[MOST]
    cdef double gain[MOST]
    cdef double s = variance, total
    cdef int i, j
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += p[i * n + j] * h[j]
        ph[i] = total
    for i in range(n):
        s += h[i] * ph[i]
    for i in range(n):
        gain[i] = ph[i] / s
        x[i] += gain[i] * innovation
    # the product written out: P - K (P h)' - (P h) K' + K s K', in this order symmetric in its bits
    for i in range(n):
        for j in range(i, n):
            p[i * n + j] = p[j * n + i] = (
                p[i * n + j] - gain[i] * ph[j] - ph[i] * gain[j] + gain[i] * s * gain[j])
    return s


cdef inline bint is_positive_definite(const double *p, int n) noexcept nogil:
    """L D L' with every pivot above zero; false for what is not finite."""
    cdef double l[MOST2]
    cdef double pivot, total
    cdef int i, j, k
    for j in range(n):
        pivot = p[j * n + j]
        for k in range(j):
            pivot -= l[j * n + k] * l[j * n + k] * l[k * n + k]
        if not (0.0 < pivot < 1e300):
            return False
        l[j * n + j] = pivot
        for i in range(j + 1, n):
            total = p[i * n + j]
            for k in range(j):
                total -= l[i * n + k] * l[j * n + k] * l[k * n + k]
            l[i * n + j] = total / pivot
    return True


cdef inline void set_diagonal(double *p, const double *diagonal, int n) noexcept nogil:
    cdef int i
    for i in range(n * n):
        p[i] = 0.0
    for i in range(n):
        p[i * n + i] = diagonal[i]

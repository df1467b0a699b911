"""Small dense symmetric matrices in the cycle: row-major C arrays, no library, bounded loops.

    propagate   P <- F P F^T + Q
    project     P h^T and h P h^T; `project_rows` of a P that is symmetric to the last bit
    drift       the same with F = [[I, h I, 0], [0, I, 0], [0, 0, I]]
    joseph      one scalar measurement, in Joseph's form: P <- (I - k h) P (I - k h)^T + r k k^T
    take_row    a scalar measurement as a whole, x and P
    cholesky    P = L L^T, or how many of its leading columns are positive definite

The result is symmetric to the last bit: the lower half is computed, the upper one copied. Beyond SMALL states rows are
taken at once (`rows.h`) and zeros of F and h left out; every sum keeps its order, and so its bits.

Source: Bucy and Joseph 1968, Filtering for Stochastic Processes with Applications to Guidance, ch. 16.
"""
from libc.math cimport sqrt
from libc.string cimport memcpy, memset

cdef extern from "estimators/numerics/rows.h" nogil:
    void add_row(double *to, const double *row, double x, int n)
    void add_left_over(double *to, const double *row, const double *gain, double p, double h, int n)
    void keep_left_over(double *row, const double *p, const double *gain, double g, double a, int n)
    void divide_row(double *to, double x, int n)

cdef enum:
    SMALL = 4   # states up to which a compiler unrolls the loops

cdef inline void mirror(double *p, int n) noexcept nogil:
    cdef int i, j
    for i in range(n):
        for j in range(i):
            p[j * n + i] = p[i * n + j]


cdef inline void mirror_down(double *p, int n) noexcept nogil:
    cdef int i, j
    for i in range(n):
        for j in range(i):
            p[i * n + j] = p[j * n + i]


cdef inline void propagate(double *p, const double *f, const double *q, double *work, int n) noexcept nogil:
    # q: NULL adds nothing; work: n^2 cells
    cdef int i, j, k
    cdef double sum
    if n > SMALL:
        _propagate_rows(p, f, q, work, n)
        return
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


cdef inline void _propagate_rows(double *p, const double *f, const double *q, double *work, int n) noexcept nogil:
    cdef int i, j, k
    cdef double swapped
    memset(work, 0, n * n * sizeof(double))
    for i in range(n):
        for k in range(n):
            if f[i * n + k] != 0.0:
                add_row(work + i * n, p + k * n, f[i * n + k], n)
    for i in range(n):
        for j in range(i):
            swapped = work[i * n + j]
            work[i * n + j] = work[j * n + i]
            work[j * n + i] = swapped
    # the upper half, whose entry (j, i) is the lower one's (i, j)
    for j in range(n):
        for i in range(j, n):
            p[j * n + i] = 0.0 if q == NULL else q[i * n + j]
        for k in range(n):
            if f[j * n + k] != 0.0:
                add_row(p + j * n + j, work + k * n + j, f[j * n + k], n - j)
    mirror_down(p, n)


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


cdef inline double project_rows(const double *p, const double *h, double *ph, int n) noexcept nogil:
    # as project, of a P that is symmetric to the last bit
    cdef int i
    cdef double variance = 0.0
    if n <= SMALL:
        return project(p, h, ph, n)
    memset(ph, 0, n * sizeof(double))
    for i in range(n):
        if h[i] != 0.0:
            add_row(ph, p + i * n, h[i], n)
    for i in range(n):
        variance += h[i] * ph[i]
    return variance


cdef inline void joseph(
    double *p, const double *h, const double *gain, const double *ph, double r, double *work, int n,
) noexcept nogil:
    # ph = P h^T with P before, which is symmetric to the last bit; work: n^2 + n cells
    cdef int i, j
    cdef double sum
    cdef double *ah = work + n * n
    if n > SMALL:
        memset(ah, 0, n * sizeof(double))
        for j in range(n):
            if h[j] != 0.0:
                add_left_over(ah, p + j * n, gain, ph[j], h[j], n)
        add_row(ah, gain, -r, n)
        for i in range(n):
            keep_left_over(p + i * n, ph, gain, gain[i], ah[i], i + 1)
        mirror(p, n)
        return
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
    cdef double total = variance + project_rows(p, h, ph, n)
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


cdef inline int cholesky_rows(const double *p, double *upper, int n) noexcept nogil:
    # L^T in the upper half of `upper`, of a P that is symmetric to the last bit; otherwise as cholesky
    cdef int j, k
    cdef double *row
    for j in range(n):
        row = upper + j * n
        memcpy(row + j, p + j * n + j, (n - j) * sizeof(double))
        for k in range(j):
            if upper[k * n + j] != 0.0:
                add_row(row + j, upper + k * n + j, -upper[k * n + j], n - j)
        if not 0.0 < row[j] < 1e300:
            return j
        row[j] = sqrt(row[j])
        divide_row(row + j + 1, row[j], n - j - 1)
    return n


cdef inline int cholesky(const double *p, double *lower, int n) noexcept nogil:
    # lower half of `lower`; stops before the first pivot that is not positive or not finite and returns its
    # number, n if none
    cdef int i, j, k
    cdef double sum
    if n > SMALL:
        j = cholesky_rows(p, lower, n)
        mirror_down(lower, n)
        return j
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

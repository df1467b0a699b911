"""Small dense linear equations, for the cycle."""

from libc.math cimport fabs

cdef inline bint solve(double *a, double *b, int n, int columns, double least) noexcept nogil:
    """b <- a^-1 b (n, columns) with row exchanges; false, b spoilt, if a pivot is below `least`."""
    cdef int i, j, k, best
    cdef double pivot, swap
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if fabs(a[i * n + k]) > fabs(a[best * n + k]):
                best = i
        pivot = a[best * n + k]
        if not fabs(pivot) > least:
            return False
        for j in range(n):
            swap = a[k * n + j]
            a[k * n + j] = a[best * n + j]
            a[best * n + j] = swap
        for j in range(columns):
            swap = b[k * columns + j]
            b[k * columns + j] = b[best * columns + j]
            b[best * columns + j] = swap
        for i in range(n):
            if i == k:
                continue
            swap = a[i * n + k] / pivot
            for j in range(k, n):
                a[i * n + j] -= swap * a[k * n + j]
            for j in range(columns):
                b[i * columns + j] -= swap * b[k * columns + j]
    for k in range(n):
        for j in range(columns):
            b[k * columns + j] /= a[k * n + k]
    return True

"""Exact discretisation of x' = A x + b + w, with b constant over a step and w white of a density for each state:

    F = e^(A h),   flow = int_0^h e^(A t) dt,   Q = int_0^h e^(A t) S e^(A t)^T dt

A is balanced by powers of two, so that it costs no bit; the three series run over a part of the step that is short
beside every time constant, and the step is doubled from there:

    Q(2 t) = Q + F Q F^T,   flow(2 t) = flow + F flow,   F(2 t) = F F

Van Loan's block exponential has the same F and Q; the doubling needs no e^(-A h), which overflows for stiff modes, and
no inverse of A, which rigid-body motions make singular. Loops are bounded: 12 terms, 40 doublings at most.

Source: C. F. Van Loan, "Computing integrals involving the matrix exponential", IEEE Trans. Automatic Control 23 (1978)
395-404; B. N. Parlett and C. Reinsch, Numerische Mathematik 13 (1969) 293-304 (balancing).
"""
from libc.math cimport fabs, frexp, ldexp
from libc.string cimport memcpy, memset

import numpy as np

cdef enum:
    TERMS = 12          # 0.5^13 / 13! is below rounding
    SWEEPS = 4
    MOST_DOUBLINGS = 40
    FURTHEST = 200      # exponents of the balance stay within


cdef inline void _balance(double *a, double *size, int n) noexcept nogil:
    # a <- D^-1 a D with D = diag(size), so that the entries of each row and column are alike in size
    cdef int i, j, power, _sweep
    cdef double row, column, factor
    for i in range(n):
        size[i] = 1.0
    for _sweep in range(SWEEPS):
        for i in range(n):
            row = column = 0.0
            for j in range(n):
                if j != i:
                    row += fabs(a[i * n + j])
                    column += fabs(a[j * n + i])
            # an input acts and is not acted on, a position that nothing depends on the other way about
            if column == 0.0 or row == 0.0:
                continue
            frexp(row / column, &power)
            power = power // 2
            if power == 0 or not -FURTHEST < power < FURTHEST:
                continue
            factor = ldexp(1.0, power)
            size[i] *= factor
            for j in range(n):
                a[j * n + i] *= factor
                a[i * n + j] /= factor
    for i in range(n):
        row = column = 0.0
        for j in range(n):
            row += fabs(a[i * n + j])
            column += fabs(a[j * n + i])
        if (row == 0.0) == (column == 0.0):
            continue
        frexp(row if column == 0.0 else 1.0 / column, &power)
        if -FURTHEST < power < FURTHEST:
            factor = ldexp(1.0, power)
            size[i] *= factor
            for j in range(n):
                a[j * n + i] *= factor
                a[i * n + j] /= factor


cdef inline void _multiply(const double *a, const double *b, double *out, int n) noexcept nogil:
    # out = a b; rows of a are mostly zeros where it is a system's matrix
    cdef int i, j, k
    cdef double x
    memset(out, 0, n * n * sizeof(double))
    for i in range(n):
        for k in range(n):
            x = a[i * n + k]
            if x == 0.0:
                continue
            for j in range(n):
                out[i * n + j] += x * b[k * n + j]


cdef inline void _congruent(const double *f, double *q, double *half, int n) noexcept nogil:
    # q <- q + f q f^T, symmetric to the last bit
    cdef int i, j, k
    cdef double sum
    _multiply(f, q, half, n)
    for i in range(n):
        for j in range(i + 1):
            sum = q[i * n + j]
            for k in range(n):
                sum += half[i * n + k] * f[j * n + k]
            q[i * n + j] = sum
    for i in range(n):
        for j in range(i):
            q[j * n + i] = q[i * n + j]


cdef void van_loan(
    const double *a, const double *density, double h, double *transition, double *flow, double *noise, double *work,
    int n,
) noexcept nogil:
    """Fill `transition`, `flow` and `noise`, each (n, n), row-major; `work`: `van_loan_cells`."""
    cdef double *balanced = work
    cdef double *term = work + n * n
    cdef double *other = work + 2 * n * n
    cdef double *change = work + 3 * n * n
    cdef double *size = work + 4 * n * n
    cdef double norm = 0.0, sum, part, scale
    cdef int i, j, k, doublings = 0, _step
    memcpy(balanced, a, n * n * sizeof(double))
    _balance(balanced, size, n)
    for j in range(n):
        sum = 0.0
        for i in range(n):
            sum += fabs(balanced[i * n + j])
        norm = max(norm, sum)
    part = h
    while norm * part > 0.5 and doublings < MOST_DOUBLINGS:
        part *= 0.5
        doublings += 1
    memset(transition, 0, n * n * sizeof(double))
    memset(noise, 0, n * n * sizeof(double))
    for i in range(n):
        transition[i * n + i] = 1.0
        noise[i * n + i] = density[i] / (size[i] * size[i]) * part
    memcpy(flow, transition, n * n * sizeof(double))
    memcpy(term, transition, n * n * sizeof(double))
    memcpy(change, noise, n * n * sizeof(double))
    for i in range(n * n):
        flow[i] *= part
    for k in range(1, TERMS + 1):
        _multiply(balanced, term, other, n)
        scale = part / k
        for i in range(n * n):
            term[i] = other[i] * scale
            transition[i] += term[i]
            flow[i] += term[i] * (part / (k + 1))
        _multiply(balanced, change, other, n)
        scale = part / (k + 1)
        for i in range(n):
            for j in range(n):
                change[i * n + j] = (other[i * n + j] + other[j * n + i]) * scale
                noise[i * n + j] += change[i * n + j]
    for _step in range(doublings):
        _congruent(transition, noise, other, n)
        _multiply(transition, flow, other, n)
        for i in range(n * n):
            flow[i] += other[i]
        _multiply(transition, transition, other, n)
        memcpy(transition, other, n * n * sizeof(double))
    for i in range(n):
        for j in range(n):
            transition[i * n + j] *= size[i] / size[j]
            flow[i * n + j] *= size[i] / size[j]
            noise[i * n + j] *= size[i] * size[j]


def discretised(slopes, density, double step_s):
    cdef int n = len(slopes)
    given = np.array(slopes, dtype=np.float64, order="C")
    if given.shape != (n, n) or n == 0:
        raise ValueError(f"slopes have shape {given.shape}, need to be square")
    cdef double[:, ::1] a = given
    cdef double[::1] s = np.array(density, dtype=np.float64)
    if s.shape[0] != n:
        raise ValueError(f"density has {s.shape[0]} entries, needs {n}")
    cdef double[:, ::1] f = np.empty((n, n)), flow = np.empty((n, n)), q = np.empty((n, n))
    cdef double[::1] work = np.empty(van_loan_cells(n))
    van_loan(&a[0, 0], &s[0], step_s, &f[0, 0], &flow[0, 0], &q[0, 0], &work[0], n)
    return np.asarray(f), np.asarray(flow), np.asarray(q)

"""What an observer knows of a mechanism: two functions of (z, zd), handed over as a capsule.

z are the n independent coordinates. Hand-written models fill this in, and so can generated ones.
"""
from libc.stdint cimport int64_t

cdef enum:
    MODEL_ABI = 1
    MOST_DOF = 4
    MOST_SENSORS = 4

# velocities of the measured points: sens (m, n) zd; their accelerations: sens zdd + bias (m)
ctypedef void (*sensors_fn)(
    const void *model, const double *z, const double *zd, double *sens, double *bias
) noexcept nogil

# mass (n, n) zdd + bias (n) = known (n, n) F1 + unknown (n, n) F2
ctypedef void (*dynamics_fn)(
    const void *model, const double *z, const double *zd, double *mass, double *bias,
    double *known, double *unknown
) noexcept nogil

cdef struct ObservedModel:
    int64_t abi           # MODEL_ABI of the side that made it
    int n_dof
    int n_sensors         # accelerometers, at least n_dof for a kinematic observer
    sensors_fn sensors
    dynamics_fn dynamics
    const void *model


cdef inline bint solve(double *a, double *b, int n, int columns, double least) noexcept nogil:
    """b <- a^-1 b (n, columns) with row exchanges; false, b spoilt, if a pivot is below `least`."""
    cdef int i, j, k, best
    cdef double pivot, swap
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(a[i * n + k]) > abs(a[best * n + k]):
                best = i
        pivot = a[best * n + k]
        if not abs(pivot) > least:
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

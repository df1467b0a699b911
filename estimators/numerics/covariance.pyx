"""Python's view of the small matrices in covariance.pxd; allocates, for tests and offline work."""
import numpy as np


def _square(name, matrix, n):
    found = np.array(matrix, dtype=np.float64, order="C")
    if found.shape != (n, n):
        raise ValueError(f"{name} has shape {found.shape}, needs ({n}, {n})")
    return found


def propagated(cov, transition, proc_cov):
    cdef int n = len(cov)
    cdef double[:, ::1] p = _square("cov", cov, n)
    cdef double[:, ::1] f = _square("transition", transition, n)
    cdef double[:, ::1] q = _square("proc_cov", proc_cov, n)
    cdef double[::1] work = np.empty(n * n)
    if n:
        propagate(&p[0, 0], &f[0, 0], &q[0, 0], &work[0], n)
    return np.asarray(p)


def corrected(cov, slope, double variance):
    cdef int n = len(cov), i
    cdef double[:, ::1] p = _square("cov", cov, n)
    cdef double[::1] h = np.array(slope, dtype=np.float64)
    cdef double[::1] ph = np.empty(n), gain = np.empty(n), work = np.empty(n * n + n)
    cdef double total
    if h.shape[0] != n or n == 0:
        raise ValueError(f"slope has {h.shape[0]} entries, needs {n}")
    total = project(&p[0, 0], &h[0], &ph[0], n) + variance
    for i in range(n):
        gain[i] = ph[i] / total
    joseph(&p[0, 0], &h[0], &gain[0], &ph[0], variance, &work[0], n)
    return np.asarray(p), np.asarray(gain)


def is_positive_definite(cov):
    cdef int n = len(cov)
    cdef double[:, ::1] p = _square("cov", cov, n)
    cdef double[:, ::1] lower = np.zeros((n, n))
    return n == 0 or cholesky(&p[0, 0], &lower[0, 0], n) == n

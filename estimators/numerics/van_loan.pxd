"""Exact discretisation of a linear motion with white noise; see `van_loan.pyx`."""
from libc.stdint cimport int64_t

# cells of `work`
cdef inline int64_t van_loan_cells(int64_t n) noexcept nogil:
    return 4 * n * n + n

cdef void van_loan(
    const double *a, const double *density, double h, double *transition, double *flow, double *noise, double *work,
    int n,
) noexcept nogil

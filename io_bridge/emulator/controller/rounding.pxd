"""Rounding without a call of the C library, for numbers below 2^63."""
from libc.stdint cimport int64_t


cdef inline int64_t whole(double x) noexcept nogil:
    """The largest whole number that is not above x."""
    cdef int64_t n = <int64_t> x
    return n - (x < <double> n)

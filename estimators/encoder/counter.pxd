"""Counters that repeat: the shortest way from one count to another."""
from libc.math cimport floor

cdef inline double shortest(double difference, double span) noexcept nogil:
    # difference modulo span, in [-span/2, span/2); exact for integers below 2^53; span 0: no wrap
    return difference if span == 0.0 else difference - span * floor(difference / span + 0.5)

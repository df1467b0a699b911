"""Log-linear histograms of durations: recording, without Python."""
from libc.stdint cimport int64_t

from rt_core.shared cimport load_relaxed, store_relaxed

cdef enum:
    SUB_BITS = 5                       # 32 bins an octave: a bin is at most 3.2 % wide
    OCTAVES = 32                       # up to 2^36 ns = 68 s
    BINS = (OCTAVES + 1) << SUB_BITS
    SUM = 0
    MAX = 1
    COUNTS = 8                         # first bin, on a cache line of its own

cdef extern from *:
    int clzll "__builtin_clzll"(unsigned long long x) noexcept nogil


cdef inline int64_t bin_of(int64_t ns) noexcept nogil:
    # below 2^SUB_BITS one bin a nanosecond; then 2^SUB_BITS equal bins in each octave
    cdef int64_t octave
    if ns < (1 << SUB_BITS):
        return ns if ns > 0 else 0
    octave = 63 - clzll(<unsigned long long>ns) - SUB_BITS
    if octave >= OCTAVES:
        return BINS - 1
    return (octave << SUB_BITS) + (ns >> octave)


cdef inline void record(int64_t *histogram, int64_t ns) noexcept nogil:
    # one writer; readers in other processes may see a count without its sum, never a broken word
    cdef int64_t *count = histogram + COUNTS + bin_of(ns)
    store_relaxed(count, load_relaxed(count) + 1)
    store_relaxed(histogram + SUM, load_relaxed(histogram + SUM) + ns)
    if ns > load_relaxed(histogram + MAX):
        store_relaxed(histogram + MAX, ns)

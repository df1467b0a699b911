from libc.stdint cimport int64_t

from rt_core.signals.table cimport SignalTable


cdef class RingView:
    cdef readonly SignalTable table
    cdef readonly object dtype
    cdef readonly int64_t next_row
    cdef const int64_t *ring     # NULL: closed
    cdef int64_t slots
    cdef int64_t slot_words
    cdef int64_t[::1] words      # of a slot that are copied: the time, then the chosen cells
    cdef int64_t copy_rows(self, int64_t first, int64_t end, int64_t[:, ::1] out) noexcept nogil

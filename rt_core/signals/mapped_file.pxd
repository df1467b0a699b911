"""Files that are mapped in and may be cut short by others: what is gone reads as zeros, and no process dies of it.

A page beyond the end of its file raises SIGBUS in whoever touches it, which ends a process. A look at the size before
each access leaves a race. So the signal itself is taken: in a range that is guarded, the pages that the file has lost
are replaced by empty ones of the process's own, and the range is marked. Anywhere else the signal does what it did.
"""
from libc.stdint cimport uintptr_t


cdef int guard_range(const void *begin, size_t size) except -1        # a place, for the two below

cdef bint is_cut(int place) noexcept nogil

cdef void release_range(int place) noexcept nogil

from libc.stdint cimport int64_t


cdef class SignalTable:
    cdef readonly str path
    cdef readonly bint writable
    cdef readonly object layout
    cdef object _map
    cdef object _bytes
    cdef int64_t *words          # start of the mapped file
    cdef int place               # of the range that a file cut short leaves without pages; -1: none
    cdef int users               # loops and readers that hold pointers into it
    cdef dict _published
    cdef object area(self, str producer)
    cdef tuple read_image(self, str producer)
    cdef int hold(self) except -1
    cdef int require_whole(self) except -1
    cdef void _release(self) noexcept

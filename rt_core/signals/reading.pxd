from rt_core.signals.table cimport SignalTable


cdef class SignalReader:
    cdef readonly SignalTable table
    cdef dict _places            # path → Place
    cdef dict _selections        # tuple of paths → Selection
    cdef bint _is_open
    cdef int require_open(self) except -1

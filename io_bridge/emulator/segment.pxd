from io_bridge.emulator.topology cimport Ring


cdef class Segment:
    cdef Ring ring
    cdef readonly tuple devices

    cdef int _position(self, position) except -1
    cdef int _cable(self, position) except -1

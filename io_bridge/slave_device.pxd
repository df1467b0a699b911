from io_bridge.esc_memory cimport Esc


cdef class SlaveDevice:
    cdef Esc esc

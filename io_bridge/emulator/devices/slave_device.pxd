from io_bridge.emulator.controller.memory cimport Esc


cdef class SlaveDevice:
    cdef Esc esc

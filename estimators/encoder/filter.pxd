"""The encoder filter as a block."""
from rt_core.block cimport BlockView
from estimators.encoder.cycle cimport EncoderState

cdef class EncoderFilter:
    cdef EncoderState state
    cdef BlockView view
    cdef readonly str name
    cdef readonly dict reads
    cdef readonly dict writes
    cdef readonly object gain
    cdef readonly double gate_rad

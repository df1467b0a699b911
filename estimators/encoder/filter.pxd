"""The encoder filter as a block."""
from estimators.encoder.cycle cimport EncoderState
from rt_core.cycle_block cimport CycleBlock

cdef class EncoderFilter(CycleBlock):
    cdef EncoderState state
    cdef readonly object gain
    cdef readonly double gate_rad

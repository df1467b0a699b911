"""The relay of the latency test: the torque h, with the sign of the angle."""
from libc.math cimport isfinite
from libc.stdint cimport int64_t, uintptr_t

from rt_core.cycle_block cimport CycleBlock

import math

from rt_core.block import wrong_ports

READS = ("angle_rad",)
WRITES = ("torque_nm",)

cdef enum:
    FAULT_ANGLE = 1              # the angle is not a finite number

FAULTS = {FAULT_ANGLE: "the angle is not a finite number"}
"""Fault code of a step in words."""

cdef struct Memory:
    const double *angle_rad
    double *torque_nm
    double h_nm


cdef int step_relay(void *self, int64_t t_ns) noexcept nogil:
    cdef Memory *m = <Memory *>self
    if not isfinite(m.angle_rad[0]):
        m.torque_nm[0] = 0.0
        return FAULT_ANGLE
    m.torque_nm[0] = m.h_nm if m.angle_rad[0] >= 0.0 else -m.h_nm
    return 0


cdef class Relay(CycleBlock):
    """See relay_step.pyi."""

    cdef Memory memory

    def __init__(self, torque_nm, name, reads, writes=None):
        paths = {port: f"{name}/{port}" for port in WRITES} | dict(writes or {})
        mistakes = []
        if not (math.isfinite(torque_nm) and torque_nm > 0.0):
            mistakes.append(f"torque_nm = {torque_nm}: must be a positive number")
        mistakes += wrong_ports((reads, paths, READS, WRITES), READS)
        if mistakes:
            raise ValueError(f"relay {name}: " + "; ".join(mistakes))
        self.name = name
        self.reads = dict(reads)
        self.writes = paths
        self.memory.h_nm = torque_nm
        self.run_by(step_relay, &self.memory, 0)

    def bind(self, reads, writes):
        cdef uintptr_t angle = dict(zip(self.reads, reads, strict=True))["angle_rad"]
        cdef uintptr_t torque = dict(zip(self.writes, writes, strict=True))["torque_nm"]
        self.memory.angle_rad = <const double *>angle
        self.memory.torque_nm = <double *>torque

from libc.stdint cimport int64_t

from io_bridge.emulator.drive.device cimport DriveDevice
from io_bridge.emulator.drive.plant cimport Plant

cdef struct ShaftState:
    Plant *first
    Plant *second
    double stiffness
    double damping
    double sensor_lag_s
    double untwisted_rad      # first minus second angle when nothing pulls
    int64_t now_ns
    double twist_nm           # torque that the first drive puts into the shaft
    double sensor_nm          # the same as the transducer says it


cdef class Shaft:
    cdef ShaftState state
    cdef readonly DriveDevice first
    cdef readonly DriveDevice second

from libc.stdint cimport int64_t

from io_bridge.emulator.drive.device cimport DriveDevice
from io_bridge.emulator.drive.plant cimport Plant

cdef enum:
    LUMPS = 6                 # motor, four pieces of the shaft, wheel

cdef struct ColumnState:
    Plant *motor              # its angle, rate and current loop; its hands hold the wheel
    double inertia[LUMPS]
    double stiffness          # of one of the five springs between them
    double damping
    double bending_rad_s
    double bending_rate       # 2 zeta omega
    double wheel_kg           # mass that the column carries where it bends
    double side_n             # vertical force of the hands on the wheel, down
    double twist_per_nm       # shear strain at the gauge
    double bow_per_m          # strain at the gauge of bending
    double angle_rad[LUMPS]
    double rate_rad_s[LUMPS]
    double bent_m[2]          # along two directions that turn with the motor
    double bent_m_s[2]
    int64_t now_ns
    double twist              # strains, as the gauges have them
    double bow


cdef class Column:
    cdef ColumnState state
    cdef readonly DriveDevice drive

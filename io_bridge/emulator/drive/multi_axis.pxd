from io_bridge.emulator.devices.described_device cimport DescribedDevice
from io_bridge.emulator.drive.device cimport Drive

cdef enum:
    MOST_AXES = 4

cdef struct Axes:
    int n
    Drive drives[MOST_AXES]


cdef class MultiAxisDrive(DescribedDevice):
    cdef Axes state
    cdef readonly object parameters


cdef class DriveAxis:
    cdef MultiAxisDrive device   # whose memory `drive` is
    cdef Drive *drive

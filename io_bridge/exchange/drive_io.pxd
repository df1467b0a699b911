"""A CiA 402 drive's part of a cycle: command into the outputs, sensors out of the inputs."""
from libc.stdint cimport int64_t, uint8_t

from io_bridge.slaves.cia402 cimport DriveMode

cdef enum:
    N_DRIVE_READS = 3
    N_DRIVE_WRITES = 6

cdef enum:                   # positions in a drive's reads, and in DRIVE_WRITES
    COMMAND = 0              # Nm, rad/s or rad, by the mode
    ENABLE = 1
    RESET = 2
    POSITION = 0
    VELOCITY = 1
    TORQUE_ACTUAL = 2
    STATUSWORD = 3
    OPERATIONAL = 4
    SENSOR = 5

cdef struct DriveIo:
    int slave                # its place among the slaves
    DriveMode mode
    int sign
    int has_own_guard        # which sees its fault: the bus reports none, and holds this drive alone
    int stops                # braked when no longer enabled, instead of let go
    double permille_per_nm   # of rated torque, with the drive's sign
    double peak_permille
    double counts_per_rad    # with the drive's sign
    double counts_s_per_unit  # of 0x606C and 0x60FF
    double limit_counts_s    # of commanded speed
    # offsets of the objects in outputs and inputs; -1 = not mapped
    int o_control
    int o_command
    int o_mode
    int i_status
    int i_position
    int i_velocity
    int i_torque
    int i_mode
    int i_sensor
    # state
    int state                # DriveState by the last valid inputs
    int reset_before
    int resetting            # a reset was asked for and the drive is still in its fault state
    int shown                # 0x6061 by the last valid inputs, where it is mapped
    int in_mode              # 0x6061 by the last valid inputs is the mode of the rig, or is not mapped
    int held                 # its fault or mode has ended a command; it does not move before it is armed again
    int moved                # a command other than rest was sent since the last rest
    double target_count      # sent last in position mode
    double actual_count      # as the drive counts
    int64_t t_ns             # of the last command
    double *reads[N_DRIVE_READS]
    double *writes[N_DRIVE_WRITES]

cdef int drive_pack(DriveIo *d, uint8_t *out, int64_t t_ns, int allowed, int live) noexcept nogil
cdef void drive_pack_safe(DriveIo *d, uint8_t *out) noexcept nogil
cdef void drive_unpack(DriveIo *d, const uint8_t *data) noexcept nogil
cdef void drive_hold(DriveIo *d) noexcept nogil
cdef void drive_forget(DriveIo *d) noexcept nogil
cdef void fill_drive(DriveIo *d, config) except *
cdef void place_drive(DriveIo *d, config, outputs, inputs) except *

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint16_t, uint32_t

from io_bridge.emulator.devices.described_device cimport DescribedDevice
from io_bridge.emulator.drive.plant cimport Plant

cdef enum:
    QUEUE = 512             # commands that wait for their delay; a further one is lost

cdef struct Drive:
    Plant plant
    # the mechanics that move instead of the plant alone, when a shaft couples this drive to another one
    void *shaft
    void (*shaft_advance)(void *shaft, int64_t t_ns) noexcept nogil
    Drive *partner
    double counts_per_rad
    double rated_nm
    int state                # CiA 402 state, a statusword pattern
    int in_op                # the AL state is OP
    uint16_t last_control
    # mistakes of its wiring and its settings
    double shaft_gain        # torque at the shaft over that of the current loop, with its sign
    double counts_sign
    double offset_count
    int64_t delay_ns         # from a command to its effect
    double slope_nm_s        # 0: none
    int ignores_max_torque
    int deaf                 # it keeps its torque when the watchdog of its controller expires
    int deaf_from_now        # it does so once its watchdog has expired for the first time
    int stop_wired
    int stop_warns           # the emergency stop sets a bit of the statusword, and nothing else
    int stop_runs_on         # the stop ends its operation, and not its torque
    int runs_on
    int64_t runs_on_until_ns  # segment time; 0: until the fault is reset
    int64_t outlasts_ns      # its torque ends so long after its operation
    int one_way              # no torque to negative angles
    double clip_nm           # at the shaft; 0: none
    double bias_nm           # beside each command
    double inverts_rad_s     # below this speed its torque is turned round
    double spring_nm_rad     # at a wheel that nobody leads
    double play_rad          # between shaft and encoder
    double seen_rad          # by the encoder
    uint32_t stuck_bits      # of the count, always 1
    int says_nothing         # of a torque that outlasts its operation
    uint16_t warning
    double asked_nm          # behind the slope
    int64_t asked_ns
    int64_t due_ns[QUEUE]
    double due_nm[QUEUE]
    int first
    int n_due
    # loops of the velocity and position modes
    int64_t control_ns       # segment time of their next step
    int last_mode
    double velocity_gain     # Nm s
    double velocity_reset    # 1/s
    double position_gain     # 1/s
    double integral_nm
    # where the objects live in the dictionary
    uint16_t *error_code     # 0x603F
    uint16_t *control        # 0x6040
    uint16_t *status         # 0x6041
    int8_t *mode             # 0x6060
    int8_t *mode_display     # 0x6061
    int32_t *position        # 0x6064, counts
    int32_t *velocity        # 0x606C, counts/s
    int16_t *target_torque   # 0x6071, per mille of rated
    uint16_t *max_torque     # 0x6072, per mille of rated
    int16_t *torque          # 0x6077, per mille of rated
    int32_t *target_position  # 0x607A, counts
    int32_t *target_velocity  # 0x60FF, counts/s
    int32_t *sensor          # 0x2077, mNm

cdef void drive_powered(void *device) noexcept nogil
cdef void drive_outputs(void *device) noexcept nogil
cdef void drive_advance(void *device, int64_t t_ns) noexcept nogil
cdef void drive_changed(void *device, int state, int code) noexcept nogil
cdef void drive_fail(void *self, int error_code) noexcept nogil
cdef int drive_make(Drive *d, p) except -1
cdef int drive_find(Drive *d, DescribedDevice device, int offset) except -1


cdef class DriveDevice(DescribedDevice):
    cdef Drive drive
    cdef readonly object parameters
    cdef object coupling     # the shaft; kept alive with the drive

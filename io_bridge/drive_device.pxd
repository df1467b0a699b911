from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t

from io_bridge.coe cimport CoeServer
from io_bridge.drive_plant cimport Plant
from io_bridge.segment cimport SlaveDevice

cdef struct Drive:
    CoeServer coe
    Plant plant
    double counts_per_rad
    double rated_nm
    int state                # CiA 402 state, a statusword pattern
    int in_op                # the AL state is OP
    uint16_t last_control
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
    int32_t *sensor          # 0x2077, mNm


cdef class DriveDevice(SlaveDevice):
    cdef Drive drive
    cdef readonly object parameters

    cdef void *_object(self, int index, int subindex, int size, int access,
                       int64_t value=*) except NULL
    cdef int _text(self, int index, str text) except -1
    cdef int _pdo(self, int assign, int index, entries) except -1

from libc.stdint cimport uint16_t

cdef enum DriveState:
    NOT_READY = 0
    SWITCH_ON_DISABLED = 1
    READY_TO_SWITCH_ON = 2
    SWITCHED_ON = 3
    OPERATION_ENABLED = 4
    QUICK_STOP_ACTIVE = 5
    FAULT_REACTION_ACTIVE = 6
    FAULT = 7
    UNKNOWN = 8

cdef enum DriveWish:
    OFF = 0
    ON = 1
    QUICK_STOP = 2

cdef enum DriveMode:             # 0x6060
    MODE_POSITION = 8            # cyclic synchronous position
    MODE_VELOCITY = 9
    MODE_TORQUE = 10

cdef int decode(uint16_t statusword) noexcept nogil
cdef uint16_t next_control(int state, int wish, int reset) noexcept nogil

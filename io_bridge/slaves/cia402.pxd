from libc.stdint cimport uint16_t

cdef extern from "io_bridge/slaves/cia402.h" nogil:
    enum DriveState "Cia402State":
        NOT_READY "CIA402_NOT_READY"
        SWITCH_ON_DISABLED "CIA402_SWITCH_ON_DISABLED"
        READY_TO_SWITCH_ON "CIA402_READY_TO_SWITCH_ON"
        SWITCHED_ON "CIA402_SWITCHED_ON"
        OPERATION_ENABLED "CIA402_OPERATION_ENABLED"
        QUICK_STOP_ACTIVE "CIA402_QUICK_STOP_ACTIVE"
        FAULT_REACTION_ACTIVE "CIA402_FAULT_REACTION_ACTIVE"
        FAULT "CIA402_FAULT"
        UNKNOWN "CIA402_UNKNOWN"

    enum DriveWish "Cia402Wish":
        OFF "CIA402_OFF"
        ON "CIA402_ON"
        QUICK_STOP "CIA402_STOP"

    int decode "cia402_decode"(uint16_t statusword)
    uint16_t next_control "cia402_control"(int state, int wish, int reset)

cdef enum DriveMode:             # 0x6060
    MODE_POSITION = 8            # cyclic synchronous position
    MODE_VELOCITY = 9
    MODE_TORQUE = 10

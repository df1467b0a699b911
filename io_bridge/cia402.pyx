"""The master's side of the CiA 402 state machine, as two tables.

Source: CiA 402-2 (IEC 61800-7-201), state coding of the statusword and device control commands.
"""
from libc.stdint cimport uint16_t

cdef enum:
    N_STATES = 8
    FAULT_RESET = 0x0080

# statusword & mask == value, in the order of DriveState
cdef uint16_t[8][2] coding = [
    [0x004F, 0x0000],
    [0x004F, 0x0040],
    [0x006F, 0x0021],
    [0x006F, 0x0023],
    [0x006F, 0x0027],
    [0x006F, 0x0007],
    [0x004F, 0x000F],
    [0x004F, 0x0008],
]

# controlword by state: operation not wanted, wanted
cdef uint16_t[9][2] command = [
    [0x0000, 0x0000],   # not ready: passes by itself
    [0x0006, 0x0006],   # switch on disabled: shutdown leads to ready
    [0x0006, 0x0007],   # ready: switch on
    [0x0006, 0x000F],   # switched on: enable operation
    [0x0006, 0x000F],   # operation enabled
    [0x0000, 0x0000],   # quick stop: disable voltage, then from the start
    [0x0000, 0x0000],   # fault reaction: passes by itself
    [0x0000, 0x0000],   # fault: only a reset leads out
    [0x0000, 0x0000],
]


cdef int decode(uint16_t statusword) noexcept nogil:
    """Return the DriveState of a statusword."""
    cdef int i
    for i in range(N_STATES):
        if statusword & coding[i][0] == coding[i][1]:
            return i
    return UNKNOWN


cdef uint16_t next_control(int state, int enable, int reset) noexcept nogil:
    """Return the controlword that leads one step towards what is wanted; `reset` acts in the fault
    state alone."""
    if state == FAULT and reset:
        return FAULT_RESET
    return command[state][1 if enable else 0]


def drive_state(statusword: int) -> int:
    """Return the state of a statusword, an index into `io_bridge.words.DRIVE_STATES`."""
    return decode(statusword & 0xFFFF)


def controlword(statusword: int, enable: bool, reset: bool = False) -> int:
    """Return the next controlword for a drive that reports `statusword`."""
    return next_control(decode(statusword & 0xFFFF), enable, reset)

"""The master's side of the CiA 402 state machine, as two tables.

Source: CiA 402-2 (IEC 61800-7-201), state coding of the statusword and device control commands.
"""
from libc.stdint cimport uint16_t

cdef enum:
    N_STATES = 8
    FAULT_RESET = 0x0080

WISHES = ("off", "on", "stop")
"""In the order of DriveWish."""

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

# controlword by state, one column per DriveWish
cdef uint16_t[9][3] command = [
    # off     on      stop
    [0x0000, 0x0000, 0x0000],   # not ready: passes by itself
    [0x0006, 0x0006, 0x0006],   # switch on disabled: shutdown leads to ready
    [0x0006, 0x0007, 0x0006],   # ready: switch on
    [0x0006, 0x000F, 0x0006],   # switched on: enable operation
    [0x0006, 0x000F, 0x0002],   # operation enabled: off lets go, stop brakes
    [0x0000, 0x0000, 0x0002],   # quick stop: held as long as asked; else disable voltage, then from the start
    [0x0000, 0x0000, 0x0000],   # fault reaction: passes by itself
    [0x0000, 0x0000, 0x0000],   # fault: only a reset leads out
    [0x0000, 0x0000, 0x0000],
]


cdef int decode(uint16_t statusword) noexcept nogil:
    """Return the DriveState of a statusword."""
    cdef int i
    for i in range(N_STATES):
        if statusword & coding[i][0] == coding[i][1]:
            return i
    return UNKNOWN


cdef uint16_t next_control(int state, int wish, int reset) noexcept nogil:
    """Return the controlword that leads one step towards a DriveWish; `reset` acts in the fault
    state alone."""
    if state == FAULT and reset:
        return FAULT_RESET
    return command[state][wish]


def drive_state(statusword: int) -> int:
    """Return the state of a statusword, an index into `io_bridge.slaves.words.DRIVE_STATES`."""
    return decode(statusword & 0xFFFF)


def controlword(statusword: int, wish: str, reset: bool = False) -> int:
    """Return the next controlword for a drive that reports `statusword`.

    Parameters
    ----------
    statusword : int
    wish : {"off", "on", "stop"}
        Let go, operate, or brake with the drive's quick stop.
    reset : bool
        Leave the fault state.
    """
    return next_control(decode(statusword & 0xFFFF), WISHES.index(wish), reset)

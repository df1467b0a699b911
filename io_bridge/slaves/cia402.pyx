"""The master's side of the CiA 402 state machine for Python; the tables are in cia402.h."""

WISHES = ("off", "on", "stop")
"""In the order of DriveWish."""


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

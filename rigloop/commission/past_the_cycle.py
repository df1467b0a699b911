"""A look at a drive past its cycle: the inputs that lie in its memory, read by frames of their own.

A read triggers no watchdog: only frames that write the outputs do. So this sees how a drive ends its torque by itself.
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Callable

from io_bridge.master.bringup import INIT
from io_bridge.master.master import BringUpError, Master
from io_bridge.slaves.drive_config import DriveConfig, of_axis, pdo_offset
from io_bridge.slaves.errors import NoReplyError
from io_bridge.wire.acyclic import BWR
from rigloop.commission.stand import Ending, StandError

FIRST_MANAGER, MANAGER_BYTES, MANAGERS = 0x0800, 8, 16
INPUTS, WAYS = 0x00, 0x0F  # of a control byte: buffered, read by the master
OVER = 0.2  # of the torque that acted
ACTS = 0.3  # of the torque asked for, that is one
LOOKS = 3  # consecutive ones without torque
AL_CONTROL, AL_STATE, ACKNOWLEDGED = 0x0120, 0x0F, 0x10
MOST_ASKED = 20  # times, for the sync managers, for a torque and for INIT
PRESS_STOP = "the drive did not confirm that it is off: press the emergency stop now"


def torque_reader(master: Master, station: int, drive: DriveConfig) -> Callable[[], float | None]:
    """Return a function that reads the torque that a drive reports, in Nm; None where it does not answer.

    Raises
    ------
    BringUpError
        The drive does not answer, or its inputs have no torque.
    """
    entries = of_axis(((0x6077, 0, 16),), drive.axis)[0]
    offset = pdo_offset(drive.tx_pdo, *entries)
    managers = _sync_managers(master, station)
    found = [
        (int.from_bytes(row[:2], "little"), int.from_bytes(row[2:4], "little"))
        for i in range(MANAGERS)
        if (row := managers[MANAGER_BYTES * i : MANAGER_BYTES * (i + 1)])[6] & 1
        and row[4] & WAYS == INPUTS
    ]
    if offset < 0 or not found or found[-1][1] < offset + 2:
        raise BringUpError(f"{master.called(station)}: its inputs have no torque (0x6077)")
    start, size = found[-1]

    def read() -> float | None:
        with contextlib.suppress(BringUpError):
            inputs = master.read(station, start, size)
            value = int.from_bytes(inputs[offset : offset + 2], "little", signed=True)
            return 1e-3 * value * drive.rated_torque_nm * drive.sign
        return None

    return read


def _sync_managers(master: Master, station: int) -> bytes:
    # beside a cycle a frame may be lost: that alone keeps no walk from its step
    for _ in range(MOST_ASKED - 1):
        with contextlib.suppress(NoReplyError):
            return master.read(station, FIRST_MANAGER, MANAGER_BYTES * MANAGERS)
    return master.read(station, FIRST_MANAGER, MANAGER_BYTES * MANAGERS)


def take_torque_away(master: Master, station: int) -> bool:
    """Ask every slave for INIT, in which a drive has no torque, whatever its watchdog does; True once the drive says
    that it is there."""
    for _ in range(MOST_ASKED):
        with contextlib.suppress(BringUpError, OSError):
            asked = struct.pack("<H", INIT | ACKNOWLEDGED)
            master.access(BWR, 0, AL_CONTROL, asked)
            if master.state(station)[0] & AL_STATE == INIT:
                return True
    return False


def acting(read: Callable[[], float | None], least_nm: float) -> float:
    """Return the torque that acts now, before the cycle is killed.

    Raises
    ------
    StandError
        None acts, so that there is no end to watch.
    """
    for _ in range(MOST_ASKED):
        # an answer may be lost, and a torque late
        torque = read()
        if torque is not None and abs(torque) >= least_nm:
            return torque
    raise StandError("the drive reported no torque before its cycle was to be killed")


def watch_end(
    read: Callable[[], float | None],
    now_s: Callable[[], float],
    last_s: float,
    longest_s: float,
    before_nm: float,
) -> Ending:
    """Watch until a torque has ended.

    Parameters
    ----------
    read : callable
        Returns the torque; takes its time.
    now_s : callable
    last_s : float
        Time of the last frame of the cycle.
    longest_s : float
        The looks end after it.
    before_nm : float
        The torque that acted.
    """
    ended_s: float | None = None
    acted_s = last_s
    quiet = 0
    while now_s() - last_s < longest_s:
        asked_s = now_s()
        torque = read()
        if torque is None:
            continue
        if abs(torque) <= OVER * abs(before_nm):
            ended_s = now_s() if quiet == 0 else ended_s
            quiet += 1
            if quiet >= LOOKS and ended_s is not None:
                return Ending(ended_s - last_s, now_s() - last_s, ended_s - acted_s)
        else:
            acted_s = asked_s
            quiet = 0
    return Ending(None, now_s() - last_s)

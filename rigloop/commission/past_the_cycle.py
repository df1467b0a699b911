"""A look at a drive past its cycle: the inputs that lie in its memory, read by frames of their own.

A read triggers no watchdog: only frames that write the outputs do. So this sees how a drive ends its torque by itself.
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from io_bridge.master.bringup import INIT
from io_bridge.master.master import BringUpError, Master
from io_bridge.slaves.drive_config import DriveConfig, of_axis, pdo_offset
from io_bridge.slaves.errors import NoReplyError
from io_bridge.wire.acyclic import BWR
from rigloop.commission.axis import COUNTER_SPAN
from rigloop.commission.coast import LOOKED_S
from rigloop.commission.stand import NOTHING, Array, Ending, StandError

FIRST_MANAGER, MANAGER_BYTES, MANAGERS = 0x0800, 8, 16
INPUTS, WAYS = 0x00, 0x0F  # of a control byte: buffered, read by the master
OVER = 0.2  # of the torque that acted
ACTS = 0.3  # of the torque asked for, that is one
LOOKS = 3  # consecutive ones without torque
AL_CONTROL, AL_STATE, ACKNOWLEDGED = 0x0120, 0x0F, 0x10
MOST_ASKED = 20  # times, for the sync managers, for a torque and for INIT
PRESS_STOP = "the drive did not confirm that it is off: press the emergency stop now"


class Inputs(NamedTuple):
    """One look at a drive: the torque that it reports, and its count."""

    torque_nm: float
    position_count: int


Read = Callable[[], Inputs | None]
"""Looks at a drive; None where it does not answer."""


def input_reader(master: Master, station: int, drive: DriveConfig) -> Read:
    """Return a function that looks at the inputs of a drive.

    Raises
    ------
    BringUpError
        The drive does not answer, or its inputs have no torque or no count.
    """
    objects = of_axis(((0x6077, 0, 16), (0x6064, 0, 32)), drive.axis)
    torque_at, count_at = (pdo_offset(drive.tx_pdo, *entry) for entry in objects)
    least = max(torque_at + 2, count_at + 4)
    managers = _sync_managers(master, station)
    found = [
        (int.from_bytes(row[:2], "little"), int.from_bytes(row[2:4], "little"))
        for i in range(MANAGERS)
        if (row := managers[MANAGER_BYTES * i : MANAGER_BYTES * (i + 1)])[6] & 1
        and row[4] & WAYS == INPUTS
    ]
    if min(torque_at, count_at) < 0 or not found or found[-1][1] < least:
        problem = "its inputs have no torque (0x6077) or no count (0x6064)"
        raise BringUpError(f"{master.called(station)}: {problem}")
    start, size = found[-1]

    def read() -> Inputs | None:
        with contextlib.suppress(BringUpError):
            inputs = master.read(station, start, size)
            torque = int.from_bytes(inputs[torque_at : torque_at + 2], "little", signed=True)
            count = int.from_bytes(inputs[count_at : count_at + 4], "little")
            return Inputs(1e-3 * torque * drive.rated_torque_nm * drive.sign, count)
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


def acting(read: Read, least_nm: float) -> float:
    """Return the torque that acts now, before the cycle is killed.

    Raises
    ------
    StandError
        None acts, so that there is no end to watch.
    """
    for _ in range(MOST_ASKED):
        # an answer may be lost, and a torque late
        seen = read()
        if seen is not None and abs(seen.torque_nm) >= least_nm:
            return seen.torque_nm
    raise StandError("the drive reported no torque before its cycle was to be killed")


def watch_end(
    read: Read,
    now_s: Callable[[], float],
    last_s: float,
    longest_s: float,
    before_nm: float,
    rad_per_count: float,
) -> Ending:
    """Watch until a torque has ended, and the wheel for a while after that.

    Parameters
    ----------
    read : callable
        Takes its time.
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
        seen = read()
        if seen is None:
            continue
        if abs(seen.torque_nm) <= OVER * abs(before_nm):
            ended_s = now_s() if quiet == 0 else ended_s
            quiet += 1
            if quiet >= LOOKS and ended_s is not None:
                coast = _coast(read, now_s, rad_per_count)
                return Ending(ended_s - last_s, now_s() - last_s, ended_s - acted_s, *coast)
        else:
            acted_s = asked_s
            quiet = 0
    return Ending(None, now_s() - last_s)


def _coast(read: Read, now_s: Callable[[], float], rad_per_count: float) -> tuple[Array, Array]:
    begun_s = now_s()
    looks: list[tuple[float, int]] = []
    while now_s() - begun_s < LOOKED_S:
        asked_s = now_s()
        seen = read()
        if seen is not None:
            looks.append((0.5 * (asked_s + now_s()) - begun_s, seen.position_count))
    if not looks:
        return NOTHING, NOTHING
    t, counts = np.array(looks, float).T
    way = (counts - counts[0] + COUNTER_SPAN / 2) % COUNTER_SPAN - COUNTER_SPAN / 2
    return t, way * rad_per_count

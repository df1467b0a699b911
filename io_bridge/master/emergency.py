"""Emergencies: messages that a slave mails unasked (ETG.1000.6, section 5.6.4), kept with its time."""

from __future__ import annotations

import logging
import struct
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from io_bridge.slaves import words

log = logging.getLogger("rigloop.bus")

SIZE = 8
MOST_KEPT = 64
MOST_LOGGED = 16
"""Largest number of messages of one slave: a slave that never stops must not fill a disk."""


@dataclass(frozen=True)
class Emergency:
    """One emergency; code 0 takes an earlier one back.

    Attributes
    ----------
    station : int
    time_ns : int
        CLOCK_MONOTONIC at which it was fetched.
    code, register : int
        Error code as in object 0x603F, error register as in 0x1001.
    data : bytes
        Five bytes that only the vendor explains.
    """

    station: int
    time_ns: int
    code: int
    register: int
    data: bytes

    def __str__(self) -> str:
        return f"emergency {words.drive_error(self.code)}, register {self.register:#04x}, data {self.data.hex(' ')}"


def read_emergency(station: int, payload: bytes) -> Emergency | None:
    """Return the emergency in the data after a CoE header; None when it is too short for one."""
    if len(payload) < SIZE:
        return None
    code, register, data = struct.unpack_from("<HB5s", payload)
    return Emergency(station, time.monotonic_ns(), code, register, data)


class EmergencyLog:
    """The first and the newest emergencies of a bus; how many there were is counted.

    Parameters
    ----------
    called : callable, optional
        From a station to the name of its slave in the log.
    """

    def __init__(self, called: Callable[[int], str] = "slave {:#06x}".format) -> None:
        self._called = called
        self._first: list[Emergency] = []
        self._newest: deque[Emergency] = deque(maxlen=MOST_KEPT // 2)
        self.counts: dict[int, int] = {}

    def add(self, emergency: Emergency) -> None:
        """Keep one, and log it in words."""
        n = self.counts.get(emergency.station, 0) + 1
        self.counts[emergency.station] = n
        if len(self._first) < MOST_KEPT // 2:
            self._first.append(emergency)
        else:
            self._newest.append(emergency)
        if n <= MOST_LOGGED:
            more = "; no more of this slave are logged" if n == MOST_LOGGED else ""
            log.warning("%s: %s%s", self._called(emergency.station), emergency, more)

    def of(self, station: int) -> list[Emergency]:
        """Return the emergencies kept of a slave, oldest first."""
        return [found for found in (*self._first, *self._newest) if found.station == station]

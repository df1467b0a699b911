"""Events of a bus outside the cycle, in words and with their times; they explain the run afterwards."""

from __future__ import annotations

import time
from collections import deque
from typing import NamedTuple

FIRST_KEPT = 64
NEWEST_KEPT = 64


class BusEvent(NamedTuple):
    """One sentence on a slave; time is CLOCK_MONOTONIC."""

    time_ns: int
    source: str
    words: str
    warns: bool = False
    """It belongs into the verdict's notes."""


class BusEvents:
    """The first events of a run, which say why, and the newest."""

    def __init__(self) -> None:
        self._first: list[BusEvent] = []
        self._newest: deque[BusEvent] = deque(maxlen=NEWEST_KEPT)

    def add(
        self, source: str, words: str, time_ns: int | None = None, *, warns: bool = False
    ) -> None:
        """Keep a sentence; now, if no time is given."""
        now_ns = time.monotonic_ns() if time_ns is None else time_ns
        event = BusEvent(now_ns, source, words, warns)
        if len(self._first) < FIRST_KEPT:
            self._first.append(event)
        else:
            self._newest.append(event)

    def __iter__(self):
        return iter([*self._first, *self._newest])

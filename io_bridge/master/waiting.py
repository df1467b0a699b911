"""The time that a slave is waited for, and the words about it."""

from __future__ import annotations

import time
from collections.abc import Callable

SIMULATED_LOOK_S = 1e-4
"""Simulated time of one poll, where polls let time pass."""
FIRST_WORD_S, WORD_EVERY_S = 0.5, 1.0


class Waiting:
    """Time since something was asked of a slave, with a word about it now and then.

    Parameters
    ----------
    pause_s : float
        Between two looks; 0 where each look is `SIMULATED_LOOK_S`.
    limit_s : float
    tell : callable
        Takes a sentence for whoever waits in front of the terminal.
    """

    def __init__(self, pause_s: float, limit_s: float, tell: Callable[[str], None]) -> None:
        self._began = time.monotonic()
        self._simulated = pause_s == 0.0
        self._looks = 0
        self._limit_s = limit_s
        self._tell = tell
        self._next_word_s = FIRST_WORD_S

    @property
    def waited_s(self) -> float:
        return self._looks * SIMULATED_LOOK_S if self._simulated else time.monotonic() - self._began

    def look(self, what: str) -> bool:
        """Count a look; report the awaited event when it takes long. Return whether there is time for more."""
        self._looks += 1
        waited = self.waited_s
        if waited >= self._next_word_s:
            self._next_word_s = waited + WORD_EVERY_S
            self._tell(f"{what}; {waited:.1f} s of at most {self._limit_s:g} s")
        return waited < self._limit_s

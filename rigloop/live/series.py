"""A series of faults on purpose in one run: one an arming, and after each the rig is armed for the next.

It is for measurements on emulated segments. A rig that people use is armed again as its own table `rearm` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rig_configs.schema import Rig
from rigloop.live.rearm import Comeback, Rearming, Signals, stepped_blocks
from rigloop.run_folder import messages
from rigloop.run_folder.manifest import DataFault
from rt_core.safety.trips import State

LOOK_S = (
    0.06  # from the last axis at rest to the end of an arming: its record shows what came after
)
SETTLE_S = 0.05  # for which all guards are ready before they are armed again
AT_ONCE_S = 0.1  # within which guards without a fault of their drive are ready by themselves
WITHIN_S = 3.0  # for the way back from a fault


class Series:
    """The supervisor's half, in place of `Rearming`; asked once a beat.

    Parameters
    ----------
    rig : Rig
    lasts_s : sequence of float
        For how long each arming lasts at most. One whose axes have all let go is over a little after that.
    signals : callable
        The newest value of every signal.

    Attributes
    ----------
    enable, arm, reset : bool
        As they are to be published.
    over : bool
        The last arming has ended, or the rig did not come back.
    waits : bool
        It is between two armings.
    gave_up : str
        The reason why the rest of the series was not tried; empty: all of it was.
    """

    trips: Sequence[DataFault] = ()

    def __init__(self, rig: Rig, lasts_s: Sequence[float], signals: Signals) -> None:
        self._rig, self._lasts_s, self._signals = rig, tuple(lasts_s), signals
        self._n = 0  # armings that have ended
        self._since: float | None = None  # when this arming began, or the one before has ended
        self._out_since: float | None = None
        self._ready_since: float | None = None
        self._comeback = Comeback(rig, reset_drive=True)
        self.enable = self.arm = True
        self.reset = self.over = self.waits = False
        self.gave_up = ""

    def look(self, state: State, now: float) -> None:
        """Follow the guards; set what is to be published."""
        if self.over:
            return
        if self.waits:
            self._come_back(state, now)
        elif self._since is None:
            self._since = None if state in (State.INIT, State.READY) else now
        elif self._has_ended(state, now):
            self._n += 1
            self._since, self._ready_since = now, None
            self.over = self._n == len(self._lasts_s)
            self.waits, self.arm = not self.over, False
            self._comeback = Comeback(self._rig, reset_drive=True)

    def ended(self) -> None:
        """Say how many faults were not tried, where the run ends before the series."""
        left = len(self._lasts_s) - self._n
        if left and not self.gave_up:
            self.gave_up = f"the run ended before the last {left} faults of its series"

    def _has_ended(self, state: State, now: float) -> bool:
        assert self._since is not None
        if state != State.FAULT:
            self._out_since = None
        elif self._out_since is None:
            self._out_since = now
        has_let_go = self._out_since is not None and now - self._out_since >= LOOK_S
        return has_let_go or now - self._since >= self._lasts_s[self._n]

    def _come_back(self, state: State, now: float) -> None:
        assert self._since is not None
        waited_s = now - self._since
        if state != State.READY:
            self._ready_since = None
        elif self._ready_since is None:
            self._ready_since = now
        if self._ready_since is not None and now - self._ready_since >= SETTLE_S:
            self.enable, self.arm, self.reset, self.waits = True, True, False, False
            self._since, self._out_since = now, None
        elif waited_s >= WITHIN_S:
            self.over, self.waits = True, False
            self.gave_up = f"not ready again within {WITHIN_S:g} s after fault {self._n}"
        elif waited_s >= AT_ONCE_S and state != State.READY:
            self._comeback.look(self._signals(), now)
            self.enable, self.reset = self._comeback.enable, self._comeback.reset


def rearming_for(rig: Rig, folder: Path, signals: Signals) -> Rearming | Series:
    """Return who arms a run again: by the rig's own word, or for the series that was ordered."""
    lasts_s = messages.read_order(folder).series
    if lasts_s:
        return Series(rig, lasts_s, signals)
    return Rearming(rig, folder, signals, stepped_blocks(folder, rig))

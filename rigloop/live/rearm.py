"""Arming again within a run: after a bus fault that is over, if the rig file says so, and never after anything else.

The supervisor takes enable and arm back, waits until the guard is ready again for a while, and arms once more: the
guard ramps in from zero as the first time. The cycle process only stays meanwhile. A new process is a new run: neither
knows of the one before.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rig_configs.schema import Rig
from rigloop.blocks.kinds.guard import Rearm
from rigloop.compose.blocks import bus_of_guard, find_buses, find_guards, paths
from rigloop.judge.bus_words import explain_bus
from rigloop.judge.tripped import is_of_bus, trips_of
from rigloop.live.stay_after_trip import StayAfterTrip
from rigloop.run_folder import messages
from rigloop.run_folder.manifest import DataFault
from rt_core.safety.trips import State, name_of_trip, read_state

OP = 8
DISABLED_S = 0.1  # enable is taken back for so long: what the bus holds is released
SUPERVISOR_S = 2.0  # the cycle process stays for so long beyond what the supervisor may wait

Signals = Callable[[], Mapping[str, float]]


class Comeback:
    """The way of drives back into operation after a fault, for the supervisor that has taken their torque.

    Parameters
    ----------
    rig : Rig
    reset_drive : bool
        A drive in its fault state is reset.

    Attributes
    ----------
    enable, reset : bool
        As they are to be published: enable is taken back until each bus is well and has seen it; the reset is one edge,
        after that.
    """

    def __init__(self, rig: Rig, *, reset_drive: bool) -> None:
        self._buses = [paths(*bus)[1] for bus in find_buses(rig).items()]
        self._reset_drive = reset_drive
        self._well_since: float | None = None
        self.enable = self.reset = False

    def look(self, signals: Mapping[str, float], now: float) -> None:
        """Follow the buses; asked once a beat."""
        if not all(signals[w["valid"]] > 0.5 and signals[w["al_state"]] == OP for w in self._buses):
            self._well_since = None
        elif self._well_since is None:
            self._well_since = now
        well_s = 0.0 if self._well_since is None else now - self._well_since
        self.enable = self.enable or well_s >= DISABLED_S
        self.reset = self.reset or (self._reset_drive and well_s >= 2.0 * DISABLED_S)


def rearm_of(rig: Rig) -> Rearm | None:
    """Return what a rig says of arming again; of several axes, which are armed together, the strictest of each."""
    found = [guard.rearm for guard in find_guards(rig).values()]
    given = [rearm for rearm in found if rearm is not None]
    if not given or len(given) < len(found):
        return None
    return Rearm(
        after=given[0].after,
        at_most=min(rearm.at_most for rearm in given),
        settle_s=max(rearm.settle_s for rearm in given),
        within_s=min(rearm.within_s for rearm in given),
        reset_drive=all(rearm.reset_drive for rearm in given),
    )


class Rearming:
    """The supervisor's half; asked once a beat.

    Parameters
    ----------
    rig : Rig
    folder : Path
        Of the run.
    signals : callable
        The newest value of every signal.
    blocks : mapping of str to sequence of str, optional
        Those of each task in the order of their steps, where it is not that of the rig.

    Attributes
    ----------
    trips : list of DataFault
        Those after which it was armed again.
    waits : bool
        The guard has tripped, and the torque may come back.
    gave_up : str
        Why it did not; empty as long as nobody waited for nothing.
    """

    over = False  # it ends no run by itself

    def __init__(
        self,
        rig: Rig,
        folder: Path,
        signals: Signals,
        blocks: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self._rig, self._folder, self._signals, self._blocks = rig, folder, signals, blocks
        self._config = rearm_of(rig)
        self._fault: DataFault | None = None
        self._since = 0.0
        self._ready_since: float | None = None
        self._comeback: Comeback | None = None
        self._judged = False  # this FAULT was looked at
        self._has_ended = False
        self.trips: list[DataFault] = []
        self.waits = False
        self.gave_up = ""
        self.enable = self.arm = True
        self.reset = False

    def look(self, state: State, now: float) -> None:
        """Follow the guard; set what is to be published."""
        config = self._config
        if config is None:
            return
        if state == State.FAULT and not self.waits and not self._judged:
            self._judged = True
            self._begin(now)
        if not self.waits:
            self._judged = self._judged and state == State.FAULT
            return
        waited = now - self._since
        signals = self._signals()
        assert self._comeback is not None
        self._comeback.look(signals, now)
        self.enable, self.reset, self.arm = self._comeback.enable, self._comeback.reset, False
        if state != State.READY:
            self._ready_since = None
        elif self._ready_since is None:
            self._ready_since = now
        if self._ready_since is not None and now - self._ready_since >= config.settle_s:
            self._again()
        elif waited >= config.within_s:
            self.waits = False
            self.gave_up = self._why_not(
                signals,
                f"limit blocks.{self._slowest()}.rearm.within_s = {config.within_s:g}",
            )

    def ended(self) -> None:
        """Say why it was not armed again, where the run ends while it is waited for, or while other axes go on.

        Only the first call looks at the signals: later ones would see what the end itself does to them.
        """
        if self._has_ended:
            return
        self._has_ended = True
        if self.waits:
            self.waits = False
            self.gave_up = self._why_not(self._signals(), "before the run ended")
        elif (
            self._config is not None and not self.gave_up and len(self.trips) < self._config.at_most
        ):
            self.gave_up = self._left_out(self._signals())

    def _left_out(self, signals: Mapping[str, float]) -> str:
        """Return which axes a bus fault has ended while others went on; all are armed together, or none."""
        states = {
            name: read_state(signals[paths(name, guard)[1]["state"]])
            for name, guard in find_guards(self._rig).items()
        }
        out = [name for name, state in states.items() if state == State.FAULT]
        on = [name for name, state in states.items() if state in (State.RUNNING, State.HOLD)]
        if not out or not on or not is_of_bus(self._rig, signals, self._blocks):
            return ""
        return (
            f"{', '.join(out)}: not armed again: {', '.join(on)} continued, and the supervisor arms all guards "
            f"together; with blocks.{out[0]}.reach = 'all' all of them end and are armed again"
        )

    def _slowest(self) -> str:
        """Return the guard whose `within_s` holds."""
        guards = find_guards(self._rig)
        return min(guards, key=lambda name: guards[name].rearm.within_s)  # type: ignore[union-attr]

    def _why_not(self, signals: Mapping[str, float], until: str) -> str:
        assert self._config is not None
        waiting = {
            name: signals[paths(name, guard)[1]["waits_for"]]
            for name, guard in find_guards(self._rig).items()
        }
        name = next((n for n, code in waiting.items() if code), next(iter(waiting)))
        waits_for, bus = waiting[name], bus_of_guard(self._rig, name)
        said = explain_bus(*bus, lambda path: signals.get(path, 0.0)) if bus else []
        if waits_for and not said:
            said = [name_of_trip(waits_for)]
        in_fault = any("fault" in words for words in said) and not self._config.reset_drive
        remedy = f"; reset the drive, or set blocks.{name}.rearm.reset_drive" if in_fault else ""
        return f"{name}: not armed again: {'; '.join(said) or 'not ready for long enough'}, {until}{remedy}"

    def _begin(self, now: float) -> None:
        assert self._config is not None
        signals = self._signals()
        if len(self.trips) >= self._config.at_most:
            return
        if not is_of_bus(self._rig, signals, self._blocks):
            return
        trips = trips_of(self._rig, signals, self._folder, self._blocks)
        self._fault = trips[0] if trips else None
        self._since, self._ready_since, self.waits = now, None, True
        self._comeback = Comeback(self._rig, reset_drive=self._config.reset_drive)
        self.enable = self.arm = self.reset = False

    def _again(self) -> None:
        if self._fault is not None:
            self.trips.append(self._fault)
        self.waits, self._judged, self._fault = False, False, None
        self.enable, self.arm, self.reset = True, True, False


class Stay:
    """The cycle process's half: whether it ends because its guard has tripped."""

    def __init__(
        self, rig: Rig, stay_s: float, blocks: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        self._rig, self._blocks = rig, blocks
        self._config = rearm_of(rig)
        self._stay = StayAfterTrip(stay_s)
        self._since: float | None = None

    def over(self, is_faulted: bool, signals: Signals) -> bool:
        """Return whether it is over; asked again and again."""
        if self._config is None or not is_faulted:
            self._since = None
            return self._stay.over(is_faulted)
        if self._since is None:
            bus = is_of_bus(self._rig, signals(), self._blocks)
            until_s = self._config.within_s + SUPERVISOR_S if bus else 0.0
            self._since = time.monotonic() + until_s
        return time.monotonic() >= self._since and self._stay.over(True)


def stepped_blocks(folder: Path, rig: Rig) -> dict[str, list[str]]:
    """Return the blocks of each task in the order of their steps, those of faults on purpose among them."""
    asked = messages.read_order(folder).inject
    if not asked:
        return {name: list(task.blocks) for name, task in rig.tasks.items()}
    from rigloop.inject.place import stages
    from rigloop.inject.request import again

    return stages(again(asked, rig), rig)

"""The answer of each axis of a rig to each fault: found by which part, at zero torque within which time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from io_bridge.emulator.segment_link import Order
from rig_configs.hazards import HAZARDS
from rig_configs.mistakes import ConfigError
from rig_configs.schema import Rig
from rigloop.compose.blocks import find_buses, find_guards
from rigloop.inject.faults import ROWS
from rigloop.inject.kinds import (
    ON_VETH,
    WATCHDOG,
    Fault,
    InCycle,
    Reaction,
    Stated,
    ToProcess,
    ToWire,
)
from rigloop.inject.limits import Limits, limits_of
from rigloop.inject.request import parse
from rigloop.run_folder.not_started import NotStartedError
from rigloop.safety.traced import Limit, as_text, defaults_of
from rt_core.injection.inject import Act

TAKES = (Act.BURN, Act.HOLD_CORE, Act.STEAL)
"""Acts that take time of the guard's own task: the next cycles come later."""
ENDS = (Reaction.RAMP, Reaction.SAFE, Reaction.DRIVE)
"""Reactions that end at zero torque."""


@dataclass(frozen=True)
class Answer:
    """One axis and one fault.

    Attributes
    ----------
    lim : Limits
        Of the axis.
    fault : Fault
    value : float
        Of the fault's argument.
    stated : Stated
        In cycles of the axis.
    cannot : str
        The reason why the fault cannot be injected into this rig on an emulated segment; empty: it can.
    """

    lim: Limits
    fault: Fault
    value: float
    stated: Stated
    cannot: str

    @property
    def guard(self) -> str:
        """The name of the axis."""
        return self.lim.axis.guard

    @property
    def name(self) -> str:
        """The words by which it is injected, without a time."""
        return f"{self.guard}/{self.fault.name}" if self.fault.strikes else self.fault.name

    @property
    def ends(self) -> bool:
        """Tell whether the rig states zero torque."""
        return self.stated.reaction in ENDS

    @property
    def shows_late(self) -> bool:
        """Tell whether nothing shows the fault while it lasts: its reaction comes once it is over."""
        holds = self.stated.reaction == Reaction.HOLD
        return holds and isinstance(self.fault.acts, InCycle) and self.fault.acts.cycles > 1

    @property
    def scope(self) -> tuple[str, ...]:
        """Return the part of the rig that the fault strikes: axes with the same one see the same fault."""
        acts, lim = self.fault.acts, self.lim
        if isinstance(acts, ToProcess):
            return ("rig",)
        if isinstance(acts, InCycle) and acts.place == "head" and acts.order == Order.LOSE_FRAME:
            return ("bus", lim.bus_name)
        if isinstance(acts, InCycle) and acts.place == "work":
            return ("task", lim.slow)
        if isinstance(acts, InCycle) and acts.place == "estimate" and not acts.cells:
            return ("task", lim.fast)
        return ("axis", self.guard)

    @property
    def limits(self) -> list[Limit]:
        """Return the limits that the reaction follows from, with their values."""
        return [_limit(self.lim, key) for key in self.fault.limits]

    def ms(self, cycles: int | None) -> float | None:
        """Return executed cycles of this axis as a time on the clock, with the time that the fault itself takes."""
        if cycles is None:
            return None
        periods, once_ms = self._taken
        return cycles * periods * self.lim.period_s * 1e3 + once_ms

    @property
    def at_drive_ms(self) -> float | None:
        """Return the stated time from the fault to zero torque at the shaft, before the lag of the current loop; None:
        there is none.

        A drive that no frame reaches any more keeps its torque until its own watchdog ends it.
        """
        asked_ms = self.ms(self.stated.zero)
        if asked_ms is None or self.lim.axis.drive is None:
            return None
        drive = self.lim.bus.drives[self.lim.axis.drive]
        if self.cuts_off:
            asked_ms = max(asked_ms, drive.watchdog_ms)
        return asked_ms + frame_ms(self.lim) + drive.torque_delay_ms

    @property
    def cuts_off(self) -> bool:
        """Tell whether no frame reaches the drive any more."""
        acts = self.fault.acts
        if isinstance(acts, InCycle):
            return acts.order == Order.LOSE_FRAME and acts.cycles == 0
        return self.stated.reaction == Reaction.DRIVE or (isinstance(acts, ToWire) and self.ends)

    @property
    def _taken(self) -> tuple[float, float]:
        """Return the periods that an executed cycle lasts while the fault does, and the milliseconds that it takes
        once."""
        acts = self.fault.acts
        if not isinstance(acts, InCycle) or acts.place != "estimate" or acts.act not in TAKES:
            return 1.0, 0.0
        if WATCHDOG in self.stated.found_by:
            return 1.0, 0.0  # it acts while the fault lasts
        taken_us = self.value * acts.scale * 1e-3
        if acts.cycles == 1:
            return 1.0, taken_us * 1e-3
        # the core comes back within a period, and the next cycle waits for the one after
        waits = 1 if acts.act == Act.HOLD_CORE else 0
        return math.ceil(taken_us / self.lim.fast_task.period_us) + waits, 0.0


def answers_of(rig: Rig) -> list[Answer]:
    """Return what each axis of a rig states about each fault, in the order of the hazards; none without torque."""
    found = []
    for guard in find_guards(rig):
        lim = limits_of(rig, guard)
        for fault in ROWS:
            try:
                value = fault.argument.default(lim) if fault.argument else 0.0
                stated = fault.states(lim, value)
            except NotStartedError:  # a fault of a bus, in a rig without one
                continue
            found.append(Answer(lim, fault, value, stated, _cannot(lim, fault)))
    return sorted(found, key=lambda answer: HAZARDS.index(answer.fault.hazard))


def frame_ms(lim: Limits) -> float:
    """Return the time from the guard's output to the frame that takes it along: the next cycle's, if the bus stands
    before the guard or in another task."""
    task = next(task for task in lim.rig.tasks.values() if lim.bus_name in task.blocks)
    blocks = list(task.blocks)
    guard = lim.axis.guard
    if guard in blocks and blocks.index(guard) < blocks.index(lim.bus_name):
        return 0.0
    return task.period_us * 1e-3


def backends_for(rig: Rig, fault: Fault) -> Mapping[str, str]:
    """Return the emulated back ends on which a fault is tried."""
    return dict.fromkeys(find_buses(rig), "veth" if fault.needs in ON_VETH else "simulated")


def _cannot(lim: Limits, fault: Fault) -> str:
    words = f"{lim.axis.guard}/{fault.name}@0" if fault.strikes else f"{fault.name}@0"
    try:
        parse([words], lim.rig, backends_for(lim.rig, fault), telemetry=True, seconds=None)
    except ConfigError as error:
        return "; ".join(mistake.problem for mistake in error.mistakes)
    return ""


def _limit(lim: Limits, key: str) -> Limit:
    """Return a limit of an axis, named as a row of the table of faults names it."""
    part, _, name = key.partition(".")
    if part in ("fast", "slow"):
        task = lim.fast if part == "fast" else lim.slow
        return Limit(f"tasks.{task}.{name}", as_text(getattr(lim.rig.tasks[task], name)))
    if part == "bus":
        return _value(f"blocks.{lim.bus_name}.{name}", getattr(lim.bus, name))
    if part == "drive":
        assert lim.axis.drive is not None
        drive = lim.bus.drives[lim.axis.drive]
        path = f"blocks.{lim.bus_name}.drives.{lim.axis.drive}.{name}"
        return _value(path, getattr(drive, name))
    if part == "verdict":
        return _value(f"verdict.{name}", getattr(lim.rig.verdict, name))
    given = getattr(lim.guard_block, name)
    holds = defaults_of(lim.rig, lim.axis.guard)[name] if given is None else given
    return _value(f"blocks.{lim.axis.guard}.{name}", holds)


def _value(path: str, value: object) -> Limit:
    return Limit(path, as_text(value))

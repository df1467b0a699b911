"""The kinds of faults: the act and its place, and the statement of a rig about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from typing import Literal

from io_bridge.emulator.segment_link import Order
from rig_configs.hazards import Hazard
from rigloop.inject.axis import Part
from rigloop.inject.limits import Limits
from rt_core.injection.inject import Act

WATCHDOG, STOP = (
    "watchdog",
    "stop",
)  # what finds a fault, besides the guard's trips and the signals that count


Needs = Literal["", "simulated", "veth", "line", "ring", "telemetry", "rows"]
"""The part of a run that a fault needs: a back end (`line` and `ring` are `veth` without and with a second interface),
telemetry, or a model with rows of constraints."""

ON_VETH = ("veth", "line", "ring")


class Reaction(StrEnum):
    """The reaction of a rig to a fault."""

    COUNT = "COUNT"  # goes on
    HOLD = "HOLD"  # last good value, for a few cycles, then goes on
    RAMP = "RAMP"  # torque to zero by a ramp, latched
    SAFE = "SAFE"  # zero at once, latched
    DRIVE = "DRIVE"  # nothing of ours is left: the drive's own watchdog


@dataclass(frozen=True)
class Stated:
    """The statement of a rig about one fault."""

    reaction: Reaction
    found_by: tuple[str, ...]
    """Trips of the guard, `watchdog`, `stop`, or the signal that counts it; any of them."""
    detect: int
    """Cycles from the fault to what finds it, at most."""
    zero: int | None
    """Cycles from the fault to zero torque, at most; None: the torque goes on."""
    back_s: float | None = None
    """Seconds from a cable that is put back to every slave in OP, at most; None: none had to leave it."""
    rate_within: float | None = None
    """rad/s that the filter's rate may be off what the encoder's counts say meanwhile; None: not judged."""


@dataclass(frozen=True)
class InCycle:
    """A block put into a task: what it does, where, and for how long."""

    place: Literal["head", "sensor", "estimate", "guide", "work"]
    act: Act
    cells: tuple[str, ...] = ()  # of limits.sensor_cells
    cycles: int = 1  # 0: to the end
    every: int = 1
    order: Order = Order.NO_ORDER
    scale: float = 1.0  # from the argument's unit to the block's


@dataclass(frozen=True)
class ToProcess:
    """Something done to a process of the run from outside."""

    whom: Literal["supervisor", "cycle", "recorder", "telemetry"]
    do: str  # a signal's name, or FILL_DISK
    back_s: float = (
        0.0  # a stopped process goes on after so long; 0: when the cycle process has ended
    )


@dataclass(frozen=True)
class ToWire:
    """The cable that leads to the drive, in an emulated segment, pulled and put back."""

    back_s: float  # after which it is put back
    watch_s: float  # for which the run goes on after that, to see what comes back


@dataclass(frozen=True)
class Argument:
    """The number behind a fault's name."""

    unit: str
    default: Callable[[Limits], float]
    least: float
    most: float


@dataclass(frozen=True)
class Fault:
    """One row of the table."""

    name: str
    does: str
    acts: InCycle | ToProcess | ToWire
    bound: str  # in words, for a reader
    states: Callable[[Limits, float], Stated]
    argument: Argument | None = None
    needs: Needs = ""
    named: str = ""
    """Words that the verdict of the run has to say: no part of the cycle finds such a fault."""
    shows_s: float = 0.0
    """Seconds until they can be said."""
    _: KW_ONLY
    hazard: Hazard
    """The hazard that it tries out."""
    limits: tuple[str, ...] = ()
    """The limits that the reaction follows from: `guard.KEY`, `bus.KEY`, `drive.KEY`, `fast.KEY` or `slow.KEY` of the
    guard's or the model's task, `verdict.KEY`."""

    @property
    def lasts_s(self) -> float:
        """Seconds that a run must have left when it begins."""
        on_wire = self.acts.back_s + self.acts.watch_s if isinstance(self.acts, ToWire) else 0.0
        return max(on_wire, self.shows_s)

    @property
    def strikes(self) -> Part:
        """The part of an axis that it strikes, and by which the axis may be named."""
        if isinstance(self.acts, ToProcess):
            return ""
        if isinstance(self.acts, ToWire):
            return "drive"
        if self.acts.place == "head":
            return "bus" if self.acts.order == Order.LOSE_FRAME else "drive"
        parts: dict[str, Part] = {
            "sensor": "encoder",
            "estimate": "guard",
            "guide": "model",
            "work": "model",
        }
        return parts[self.acts.place]

    @property
    def where(self) -> str:
        """The place where it acts."""
        if isinstance(self.acts, ToProcess):
            return f"{self.acts.whom} process"
        if isinstance(self.acts, ToWire):
            return "cable"
        return {
            "head": "bus",
            "sensor": "sensor",
            "estimate": "estimation task",
            "guide": "model",
            "work": "simulation task",
        }[self.acts.place]

"""The axis that a fault on purpose strikes: a guard with its drive, encoder and model, and the names that mean it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Literal

from rig_configs.schema import Rig
from rigloop.blocks.axes import drives_of
from rigloop.blocks.kinds.bus import BusBlock
from rigloop.blocks.kinds.encoder_filter import EncoderFilterBlock
from rigloop.blocks.kinds.mechanism import MechanismBlock
from rigloop.blocks.slaves import joined, ring
from rigloop.compose.blocks import find_buses, find_guards, paths

Part = Literal["", "guard", "encoder", "model", "drive", "bus"]
"""The part of an axis that a fault strikes; empty: none, but a process."""


@dataclass(frozen=True)
class Axis:
    """A guard, and the parts that its wiring leads to; None where it leads to none."""

    guard: str
    bus: str | None
    drive: str | None
    encoder: str | None
    model: str | None

    def names(self, part: Part) -> tuple[str, ...]:
        """Return the names that a fault of such a part takes for this axis."""
        if part == "":
            return ()
        drive = f"{self.bus}/{self.drive}" if self.bus and self.drive else None
        beside = {
            "guard": (drive,),
            "encoder": (self.encoder, drive),
            "model": (self.model,),
            "drive": (drive,),
            "bus": (self.bus,),
        }[part]
        return (self.guard, *(name for name in beside if name is not None))


def axis_of(rig: Rig, guard: str) -> Axis:
    """Return the axis of a guard."""
    reads = find_guards(rig)[guard].reads
    drives = drives_of(rig, guard)
    bus, drive = drives[0] if drives else (next(iter(find_buses(rig)), None), None)
    return Axis(
        guard,
        bus,
        drive,
        _behind(rig, reads["angle_rad"], EncoderFilterBlock),
        _behind(rig, reads["torque_request_nm"], MechanismBlock),
    )


def axes_named(rig: Rig, part: Part) -> dict[str, str]:
    """Return the guard of the axis that each name means, for a fault of such a part: guards first."""
    axes = [axis_of(rig, guard) for guard in find_guards(rig)]
    found = {axis.guard: axis.guard for axis in axes if part}
    for axis in axes:
        for name in axis.names(part):
            # what several axes share is that of the first one
            found.setdefault(name, axis.guard)
    return found


def position_of(bus: BusBlock, drive: str | None) -> int:
    """Return the position of a drive among the slaves of its bus; that of the last slave, where none is meant."""
    slaves, further = list(ring(bus)), joined(bus)
    end = len(slaves) if drive is None else slaves.index(drive) + 1
    return sum(name not in further for name in slaves[:end]) - 1


def _behind(rig: Rig, path: str, kind: type) -> str | None:
    """Return the nearest block of a kind that a signal comes from, through any others but a bus; of a rig with one
    guard the first block of this kind, where the wiring leads to none."""
    writers = {
        p: name for name, block in rig.blocks.items() for p in paths(name, block)[1].values()
    }
    todo, seen = deque([path]), set[str]()
    while todo:
        name = writers.get(todo.popleft())
        if name is None or name in seen:
            continue
        seen.add(name)
        block = rig.blocks[name]
        if isinstance(block, kind):
            return name
        if not isinstance(block, BusBlock):
            todo += block.reads.values()
    if len(find_guards(rig)) > 1:
        return None
    return next((name for name, block in rig.blocks.items() if isinstance(block, kind)), None)

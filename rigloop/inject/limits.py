"""The limits of an axis in cycles of the task that has its guard: what the bounds of faults are made of."""

from __future__ import annotations

import math
from dataclasses import dataclass

from codegen.options.options import WITHOUT_ROWS
from rig_configs.schema import Rig, Task
from rigloop.blocks.kinds.bus import BusBlock
from rigloop.blocks.kinds.encoder_filter import EncoderFilterBlock
from rigloop.blocks.kinds.guard import GuardBlock, guard_config
from rigloop.blocks.kinds.mechanism import MechanismBlock
from rigloop.compose.blocks import find_buses, guard_of, paths
from rigloop.inject.axis import Axis, axis_of, position_of
from rigloop.run_folder.not_started import NotStartedError
from rt_core.safety.trips import GuardConfig

LOOK_S = 0.002  # between two looks of the watchdog


@dataclass(frozen=True)
class Limits:
    """The statement of a rig about the reactions of one axis; `fast` is the task with its guard, `slow` that with its
    model."""

    rig: Rig
    axis: Axis
    fast: str
    slow: str
    guard: GuardConfig

    @property
    def fast_task(self) -> Task:
        """The task with the guard."""
        return self.rig.tasks[self.fast]

    @property
    def slow_task(self) -> Task:
        """The task with the model."""
        return self.rig.tasks[self.slow]

    @property
    def period_s(self) -> float:
        """Period of the guard's task."""
        return self.fast_task.period_us * 1e-6

    @property
    def ramp(self) -> int:
        """Cycles from a trip to exactly zero."""
        return self.guard.cycles_to_zero(self.period_s)

    @property
    def guard_block(self) -> GuardBlock:
        """The table of the guard."""
        return guard_of(self.rig, self.axis.guard)[1]

    @property
    def writes(self) -> dict[str, str]:
        """The signals that the guard writes."""
        return paths(self.axis.guard, self.guard_block)[1]

    @property
    def has_rows(self) -> bool:
        """Tell whether the model of the axis has constraints that a guide may violate."""
        model = self.rig.blocks.get(self.axis.model or "")
        return isinstance(model, MechanismBlock) and (
            model.options.get("formulation") not in WITHOUT_ROWS
        )

    @property
    def bus(self) -> BusBlock:
        """The bus block with the drive of the axis."""
        return find_buses(self.rig)[self.bus_name]

    @property
    def bus_name(self) -> str:
        """Its name."""
        if self.axis.bus is None:
            raise NotStartedError("this rig has no bus: take a rig with one")
        return self.axis.bus

    @property
    def position(self) -> int:
        """Position of the drive among the slaves of its bus, and so of the cable that leads from it towards the
        master."""
        return position_of(self.bus, self.axis.drive)

    def cycles(self, seconds: float) -> int:
        """Cycles of the guard's task in a time, rounded up."""
        return math.ceil(seconds / self.period_s - 1e-9)

    def held(self, hold_ms: float) -> int:
        """Bad cycles that a hold bridges: the trip comes with the next one."""
        return math.floor(hold_ms * 1e-3 / self.period_s + 1e-9)

    def filled(self, bucket_ms: float, a_cycle: float) -> int:
        """Cycles from the first bad one to that which fills a bucket, where each adds its number of periods."""
        return math.ceil(max(2.0, bucket_ms * 1e-3 / self.period_s) / a_cycle - 1e-9) - 1

    def slow_cycles(self, n: int) -> int:
        """Cycles of the guard's task until it has seen `n` cycles of the model's."""
        return self.cycles((n + 1) * self.slow_task.period_us * 1e-6) + 1

    def stall(self, task: Task) -> int:
        """Cycles until the watchdog has seen that a task stands still."""
        return self.cycles(task.stall_cycles * task.period_us * 1e-6 + 2 * LOOK_S) + 1


def limits_of(rig: Rig, guard: str | None = None) -> Limits:
    """Return the limits of an axis of a rig: that of a guard, or of the first one."""
    name, block = guard_of(rig, guard)
    axis = axis_of(rig, name)
    tasks = {block: task for task, config in rig.tasks.items() for block in config.blocks}
    return Limits(rig, axis, tasks[name], tasks[axis.model or name], guard_config(rig, name, block))


def sensor_cells(lim: Limits) -> dict[str, str]:
    """Return the signals that carry the sensor: count and its validity, angle, rate, and the model's own."""
    reads = lim.guard_block.reads
    found = {
        "angle": reads["angle_rad"],
        "rate": reads["rate_rad_s"],
        "request": reads["torque_request_nm"],
    }
    encoder = lim.rig.blocks.get(lim.axis.encoder or "")
    if isinstance(encoder, EncoderFilterBlock):
        found |= {"count": encoder.reads["position_count"]}
        if "valid" in encoder.reads:
            found |= {"valid": encoder.reads["valid"]}
    model = lim.rig.blocks.get(lim.axis.model or "")
    if isinstance(model, MechanismBlock):
        guides = [path for port, path in model.reads.items() if port.startswith("guide/")]
        found |= {"guide": guides[0]} if guides else {}
    return found

"""The limits of a rig in cycles of the task that has the guard: what the bounds of faults are made of."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rig_configs.schema import Rig, Task
from rigloop.blocks.kinds.bus import BusBlock
from rigloop.blocks.kinds.encoder_filter import EncoderFilterBlock
from rigloop.blocks.kinds.guard import guard_config
from rigloop.blocks.kinds.mechanism import MechanismBlock
from rigloop.compose.blocks import bus_of_guard, find_bus, find_buses, find_guard, guard_of
from rigloop.run_folder.not_started import NotStartedError
from rt_core.safety.trips import GuardConfig

LOOK_S = 0.002  # between two looks of the watchdog


@dataclass(frozen=True)
class Limits:
    """The statement of a rig about its reactions. `fast` is the task with the guard, `slow` the one with the model."""

    rig: Rig
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
        """Of the guard's task."""
        return self.fast_task.period_us * 1e-6

    @property
    def ramp(self) -> int:
        """Cycles from a trip to exactly zero."""
        return self.guard.cycles_to_zero(self.period_s)

    @property
    def bus(self) -> BusBlock:
        """The bus block whose slaves and cables the faults are of."""
        return find_buses(self.rig)[self.bus_name]

    @property
    def bus_name(self) -> str:
        """Its name."""
        name = bus_in_question(self.rig)
        if name is None:
            raise NotStartedError("this rig has no bus: take a rig with one")
        return name

    @property
    def last_cable(self) -> int:
        """Position of the last slave, and so of the cable that leads from it towards the master."""
        return len(self.bus.drives) + len(self.bus.terminals) - 1

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


def limits_of(rig: Rig) -> Limits:
    """Return the limits of a rig."""
    name, block = guard_of(rig)
    model = next((n for n, b in rig.blocks.items() if isinstance(b, MechanismBlock)), name)
    tasks = {block: task for task, config in rig.tasks.items() for block in config.blocks}
    return Limits(rig, tasks[name], tasks[model], guard_config(rig, name, block))


def bus_in_question(rig: Rig) -> str | None:
    """Return the bus that faults on purpose are of: that with the drive of the first guard, else the first one."""
    guard = find_guard(rig)
    found = find_bus(rig) if guard is None else bus_of_guard(rig, guard[0])
    return None if found is None else found[0]


def sensor_cells(rig: Rig) -> dict[str, str]:
    """Return the signals that carry the sensor: count and its validity, angle, rate, and the model's own."""
    encoder = next((b for b in rig.blocks.values() if isinstance(b, EncoderFilterBlock)), None)
    guard = guard_of(rig)[1]
    model = next((b for b in rig.blocks.values() if isinstance(b, MechanismBlock)), None)
    found = {
        "angle": guard.reads["angle_rad"],
        "rate": guard.reads["rate_rad_s"],
        "request": guard.reads["torque_request_nm"],
    }
    if encoder is not None:
        found |= {"count": encoder.reads["position_count"]}
        if "valid" in encoder.reads:
            found |= {"valid": encoder.reads["valid"]}
    if model is not None:
        guides = [path for port, path in model.reads.items() if port.startswith("guide/")]
        found |= {"guide": guides[0]} if guides else {}
    return found

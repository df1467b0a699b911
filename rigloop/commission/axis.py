"""The axis that is walked through: the facts that its rig states, and the blocks that move it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

from io_bridge.bus import Bus
from io_bridge.master.diagnosis import ERROR_CODE
from io_bridge.slaves import ports as bus_ports
from io_bridge.slaves.drive_config import AXIS_STEP, DriveConfig
from io_bridge.slaves.sii import Identity
from io_bridge.slaves.terminal_config import TerminalConfig
from rig_configs.load import LoadedRig
from rigloop.blocks.axes import drives_of
from rigloop.blocks.catalogue import paths
from rigloop.blocks.kinds.bus import BusBlock
from rigloop.blocks.kinds.encoder_filter import EncoderFilterBlock
from rigloop.blocks.kinds.guard import guard_config
from rigloop.blocks.slaves import clock_config, drive_config, joined, ring, terminal_config
from rigloop.commission.player import Player
from rigloop.compose.parts import EMULATED, find_guards, one_guard
from rigloop.run_folder.not_started import NotStartedError
from rigloop.sign_off.twentieth import twentieth_nm
from rt_core.plan import Plan, Task, plan_table
from rt_core.safety.guard import Guard

TASK = "walk"
SIGNALS = ("heartbeat", "enable", "arm", "stop", "reset", "play", "zero")
RAMP_IN_S = 0.02
COUNTER_SPAN = 2.0**32  # counts after which an encoder begins again, in player.pyx too
ANGLE_KEYS = ("counts_per_rev", "sign", "zero_count", "counter_span")
"""Keys of a filter that turn a count into an angle."""
# hands may turn the wheel meanwhile, and no zero is known yet: only the way of one take is limited
MOST_TURN_RAD = 20.0


@dataclass(frozen=True)
class Spring:
    """A spring and a damper at the wheel, as the model of a rig renders them."""

    stiffness_nm_rad: float
    damping_nms: float


@dataclass(frozen=True)
class Axis:
    """The facts that a rig states of one axis.

    Attributes
    ----------
    guard, bus, drive : str
    backend : str
    second : str or None
        The second interface of a ring.
    bringup : str
        As the bus of the rig has it.
    period_ns : int
        Of the task with the bus.
    hold : int
        Periods of the task that asks for the torque, in those of the bus.
    limit_nm, rate_nm_s : float
        Of the guard; the walk has a twentieth of the torque, or of the peak torque of the drive.
    drive_config : DriveConfig
    identity : Identity or None
        As the rig file states it.
    zero_count : float
    counts_per_rev : int
        Of the filter, which makes the angle.
    sign : int
        Of the filter.
    inertia_kg_m2, torque_lag_s, torque_delay_s : float or None
        As the rig states them; the inertia may be unknown.
    spring : Spring or None
        That its model renders.
    """

    guard: str
    bus: str
    drive: str
    backend: str
    second: str | None
    bringup: Literal["auto", "pysoem", "rigloop"]
    period_ns: int
    hold: int
    limit_nm: float
    rate_nm_s: float
    drive_config: DriveConfig
    identity: Identity | None
    zero_count: float
    counts_per_rev: int
    sign: int
    inertia_kg_m2: float | None
    torque_lag_s: float
    torque_delay_s: float
    spring: Spring | None = None

    @property
    def walk_nm(self) -> float:
        """The torque of the walk."""
        return twentieth_nm(self.limit_nm, self.drive_config.peak_torque_nm)

    @property
    def period_s(self) -> float:
        """Period of the task with the bus."""
        return 1e-9 * self.period_ns

    @property
    def rad_per_count(self) -> float:
        """Angle of one count of the encoder."""
        return 2.0 * math.pi / self.drive_config.counts_per_rev

    @property
    def place(self) -> str:
        """Bus and name of the drive."""
        return f"{self.bus}/{self.drive}"

    @property
    def error_object(self) -> int:
        """Object with the error code of the drive."""
        return ERROR_CODE + AXIS_STEP * self.drive_config.axis

    def signal(self, port: str) -> str:
        """Return the signal of a port of the drive."""
        return f"{self.bus}/{self.drive}/{port}"


def axis_of(
    loaded: LoadedRig, guard: str | None, backends: dict[str, str], spring: Spring | None = None
) -> Axis:
    """Return what a rig states of one axis.

    Raises
    ------
    NotStartedError
        It has no guard, or several and none was named; its drive follows no torque, its counter is a shorter one, or
        the angle of its guard is not that of the drive's encoder.
    """
    rig = loaded.rig
    name = one_guard(rig, guard)
    if name is None:
        raise NotStartedError("this rig has no guard, and so no torque: there is nothing to walk")
    gate = find_guards(rig)[name]
    bus_name, drive_name = drives_of(rig, name)[0]
    bus = rig.blocks[bus_name]
    assert isinstance(bus, BusBlock)
    drive = bus.drives[drive_name]
    if drive.mode != "torque":
        raise NotStartedError(f"{bus_name}/{drive_name}: mode {drive.mode!r} follows no torque")
    period_us = rig.period_us(bus_name)
    slow_us = max(task.period_us for task in rig.tasks.values())
    encoder = _filter(loaded, name, f"{bus_name}/{drive_name}/position_count")
    if encoder.counter_span != COUNTER_SPAN:
        raise NotStartedError(
            f"{bus_name}/{drive_name}: counter_span = {encoder.counter_span:.0f}: the walk knows counters of 2^32 "
            "alone; take an encoder of 32 bits, or stay at 5 % of the torque"
        )
    backend = backends[bus_name]
    config = drive_config(drive_name, drive, backend in EMULATED, drive_name in joined(bus))
    plant = drive.plant
    return Axis(
        name,
        bus_name,
        drive_name,
        backend,
        bus.second_interface,
        bus.bringup,
        1000 * period_us,
        max(1, slow_us // period_us),
        gate.limit_nm,
        gate.rate_nm_s,
        config,
        config.identity,
        encoder.zero_count,
        int(encoder.counts_per_rev),
        encoder.sign,
        plant.inertia_kg_m2 if plant else None,
        plant.torque_lag_s if plant else 0.0005,
        1e-3 * drive.torque_delay_ms,
        spring,
    )


def _filter(loaded: LoadedRig, guard: str, count: str) -> EncoderFilterBlock:
    """Return the filter that makes the angle of a guard of this count.

    Raises
    ------
    NotStartedError
        The angle is none of such a filter, or another filter makes another angle of the count: the walk would measure
        what the rig does not run on.
    """
    blocks = loaded.rig.blocks
    watched = blocks[guard].reads["angle_rad"]
    found = {
        name: block
        for name, block in blocks.items()
        if isinstance(block, EncoderFilterBlock) and block.reads.get("position_count") == count
    }
    whose = [name for name, block in found.items() if watched in paths(name, block)[1].values()]
    if not whose:
        raise NotStartedError(
            f"{guard}: the guard watches {watched!r}, which no filter makes of {count!r}: the walk could not speak for "
            "that angle; wire it to an encoder filter of that count, or stay at 5 % of the torque"
        )
    own = found[whose[0]]
    for name, block in found.items():
        for key in ANGLE_KEYS:
            if getattr(block, key) != getattr(own, key):
                raise NotStartedError(
                    f"the filters {whose[0]!r} and {name!r} differ in {key}, and both read {count!r}: one of them is "
                    "wrong; correct it first"
                )
    return own


def bus_settings(loaded: LoadedRig, axis: Axis) -> tuple[list[Any], dict[str, Any]]:
    """Return the slaves and the settings of the bus of an axis; no identity is refused, for the walk compares them."""
    config = loaded.rig.blocks[axis.bus]
    assert isinstance(config, BusBlock)
    slaves: list[DriveConfig | TerminalConfig] = []
    for name in ring(config):
        if name in config.drives:
            emulated = axis.backend in EMULATED
            made = drive_config(name, config.drives[name], emulated, name in joined(config))
            slaves.append(replace(made, identity=None, has_own_guard=name == axis.drive))
        else:
            slaves.append(terminal_config(name, config.terminals[name]))
    commands = {
        f"{axis.drive}/torque_nm": "guard/torque_nm",
        f"{axis.drive}/enable": "supervisor/enable",
        f"{axis.drive}/reset": "supervisor/reset",
    }
    # all other outputs of the bus stay at zero
    reads = bus_ports.ports([bus_ports.ports_of(slave) for slave in slaves])[0]
    settings: dict[str, Any] = {
        "name": axis.bus,
        "paths": {port: commands.get(port, "supervisor/zero") for port in reads},
        "budget_us": float(config.exchange_budget_us),
        "bad_limit": config.bad_limit,
        "leak_cycles": config.leak_cycles,
        "clock": clock_config(config.clock, axis.period_ns // 1000),
    }
    return slaves, settings


@dataclass(frozen=True)
class Moved:
    """The blocks that move an axis, and their plan."""

    plan: Plan
    player: Player
    guard: Guard
    bus: Bus


def moved(loaded: LoadedRig, axis: Axis, bus: Bus) -> Moved:
    """Wire bus, player and guard of a walk: one task, the guard with a twentieth of the torque."""
    exchange = bus.block()
    player = Player(
        "player",
        {
            "position_count": axis.signal("position_count"),
            "play": "supervisor/play",
            "elapsed": f"loop/{TASK}/elapsed",
        },
        counts_per_rev=axis.drive_config.counts_per_rev,
        period_ns=axis.period_ns,
        hold=axis.hold,
    )
    gate = find_guards(loaded.rig)[axis.guard]
    config = replace(
        guard_config(loaded.rig, axis.guard, gate),
        limit_nm=axis.walk_nm,
        request_sign=1,
        request_gain=1.0,
        max_angle_rad=MOST_TURN_RAD,
        ramp_in_s=RAMP_IN_S,
        request_period_ms=0.0,
    )
    reads = {
        "torque_request_nm": "player/torque_nm",
        "request_cycle": f"loop/{TASK}/cycle",
        "request_fault": f"loop/{TASK}/fault",
        "own_fault": f"loop/{TASK}/fault",
        "own_cycle": f"loop/{TASK}/cycle",
        "elapsed": f"loop/{TASK}/elapsed",
        "own_stop": f"loop/{TASK}/stop",
        "sensor_valid": axis.signal("valid"),
        "angle_rad": "player/angle_rad",
        "rate_rad_s": "player/rate_rad_s",
        "actuator_ready": axis.signal("operational"),
        "heartbeat": "supervisor/heartbeat",
        "arm": "supervisor/arm",
        "stop": "supervisor/stop",
        "delivered": axis.signal("valid"),
    }
    guard = Guard(config, period_ns=axis.period_ns, reads=reads, name="guard")
    task = Task(
        TASK,
        [exchange, player, guard],
        period_ns=axis.period_ns,
        priority=loaded.rig.tasks[_task(loaded, axis)].priority,
        stall_cycles=loaded.rig.tasks[_task(loaded, axis)].stall_cycles,
        bus=(exchange.name,),
        steer=exchange.steer,
    )
    plan = plan_table([task], [f"supervisor/{name}" for name in SIGNALS])
    return Moved(plan, player, guard, bus)


def _task(loaded: LoadedRig, axis: Axis) -> str:
    return next(name for name, task in loaded.rig.tasks.items() if axis.bus in task.blocks)

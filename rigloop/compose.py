"""The composition root: from a rig to blocks, and from blocks to a plan."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from codegen.build import BuiltKernel
from estimators.encoder_filter import EncoderFilter
from io_bridge.bus import Bus
from io_bridge.clock_config import ClockConfig
from io_bridge.drive_config import (
    SENSOR,
    SIMULATED_IDENTITY,
    TX_PDO,
    DriveConfig,
    DrivePlant,
    PdoEntry,
    SdoWrite,
)
from io_bridge.drive_device import DriveDevice
from io_bridge.sii import Identity
from io_bridge.simulated_bus import SimulatedBus
from io_bridge.slave_device import SlaveDevice
from io_bridge.terminal_config import ChannelConfig, TerminalConfig
from rig_configs import schema
from rig_configs.load import Ports, write_path
from rigloop.bench.relay import Relay
from rigloop.kernels import period_us
from rigloop.observer_block import make_observer
from rigloop.order import SUPERVISOR_SIGNALS
from rigloop.wiring import ports_of
from rt_core.block import Block
from rt_core.guard import Guard
from rt_core.plan import Plan, Task, plan_table
from rt_core.safety import GuardConfig


@dataclass(frozen=True)
class Composed:
    """A rig ready to run: its plan, its bus, and the signal that says that its output is at rest."""

    plan: Plan
    bus: Bus
    safe: str


def compose_live(rig: schema.Rig, kernels: Mapping[str, BuiltKernel], bus: Bus) -> Composed:
    """Wire all blocks of a rig to its bus."""
    blocks: dict[str, Block] = {bus_of(rig)[0]: bus.block()}
    blocks |= make_blocks(rig, kernels)
    safe = next(block.writes["safe"] for block in blocks.values() if isinstance(block, Guard))
    # the emulated drives of this process answer at once: a bus block off its core has lost it
    waits = 0 if isinstance(bus, SimulatedBus) else bus_of(rig)[1].exchange_budget_us * 1000
    return Composed(plan_blocks(rig, blocks, bus_wait_ns=waits), bus, safe)


def make_blocks(
    rig: schema.Rig, kernels: Mapping[str, BuiltKernel], **filter_settings: float
) -> dict[str, Block]:
    """Make every block of a rig but its bus.

    Parameters
    ----------
    filter_settings : float
        Take the place of the rig's in the encoder filter: a log has a scale and a rate of its own.
    """
    blocks: dict[str, Block] = {}
    for name, config in rig.blocks.items():
        match config:
            case schema.EncoderFilterBlock():
                blocks[name] = make_filter(rig, name, config, **filter_settings)
            case schema.MechanismBlock():
                blocks[name] = make_kernel(name, config, kernels[name])
            case schema.ObservingBlock():
                blocks[name] = make_observer(name, config, kernels[name])
            case schema.RelayBlock():
                blocks[name] = Relay(config.torque_nm, name, *paths(name, config))
            case schema.GuardBlock():
                blocks[name] = make_guard(rig, name, config)
    return blocks


def plan_blocks(
    rig: schema.Rig,
    blocks: Mapping[str, Block],
    inputs: Iterable[str] = (),
    bus_wait_ns: int | None = None,
) -> Plan:
    """Plan the tasks of a rig with those of its blocks that are given.

    Parameters
    ----------
    inputs : iterable of str
        Signals that nothing here writes, because their block was left out; the fastest task owns them.
    bus_wait_ns : int, optional
        Longest time that the bus block may sleep in a cycle.
    """
    allowed = os.sched_getaffinity(0)
    fastest = min(rig.tasks, key=lambda name: rig.tasks[name].period_us)
    tasks = [
        Task(
            name,
            [blocks[block] for block in task.blocks if block in blocks],
            period_ns=task.period_us * 1000,
            priority=task.priority,
            # a core that this process may not use is a missing right, and is reported as one
            core=task.core if task.core in allowed else None,
            spin_ns=0 if task.spin_us == "auto" else task.spin_us * 1000,
            overrun=task.overrun,
            overrun_limit=task.overrun_limit,
            overrun_window=task.overrun_window,
            count_stolen=task.count_stolen,
            late_limit_ns=None if task.late_limit_us is None else task.late_limit_us * 1000,
            stall_cycles=task.stall_cycles,
            off_core=task.off_core,
            bus_wait_ns=bus_wait_ns,
            bus=tuple(b for b in task.blocks if b in blocks and rig.blocks[b].kind == "bus"),
            steer=next(
                (s for b in task.blocks if (s := getattr(blocks.get(b), "steer", None))), None
            ),
            inputs=tuple(inputs) if name == fastest else (),
        )
        for name, task in rig.tasks.items()
    ]
    return plan_table(tasks, SUPERVISOR_SIGNALS)


def paths(name: str, config: schema.Block) -> tuple[dict[str, str], dict[str, str]]:
    """Return the signal of every port of a block: as wired, and as written."""
    table = config.model_dump()
    ports: Ports | None = ports_of(table)
    assert ports is not None, name
    return (
        {port: config.reads[port] for port in ports.reads if port in config.reads},
        {port: write_path(name, table, port) for port in ports.writes},
    )


def make_filter(
    rig: schema.Rig, name: str, config: schema.EncoderFilterBlock, **settings: float
) -> EncoderFilter:
    """Return an encoder filter of a rig, with `settings` in place of the rig's."""
    reads, writes = paths(name, config)
    given = config.model_dump(exclude={"kind", "reads", "writes"})
    given["period_s"] = period_us(rig, name) * 1e-6
    given["lost_after_s"] = given.pop("lost_after_ms") * 1e-3
    return EncoderFilter(name, reads, writes, **(given | settings))


def make_kernel(name: str, config: schema.MechanismBlock, built: BuiltKernel) -> Block:
    """Return a kernel of its own state, with the rig's parameters."""
    # its own list of ports, so that nothing here has to read the mechanism
    table = config.model_dump()
    writes = {port: write_path(name, table, port) for port in built.module.WRITE_PORTS}
    kernel = built.module.Kernel(name, config.reads, writes)
    kernel.parameters = config.parameters
    return kernel


def make_guard(rig: schema.Rig, name: str, config: schema.GuardBlock) -> Guard:
    """Return the guard of a rig; its times become cycles of the task that it stands in."""
    reads, writes = paths(name, config)
    period_s = period_us(rig, name) * 1e-6
    limits = GuardConfig(
        limit_nm=config.limit_nm,
        rate_nm_s=config.rate_nm_s,
        request_sign=config.request_sign,
        max_angle_rad=config.max_angle_rad,
        max_rate_rad_s=config.max_rate_rad_s,
        ramp_in_s=config.ramp_in_s,
        ramp_out_s=config.ramp_out_s,
        max_request_age_cycles=_cycles(config.max_request_age_ms, period_s),
        max_gap_cycles=_cycles(config.max_gap_ms, period_s),
        sensor_hold_cycles=config.sensor_hold_cycles,
        bucket_limit=config.bucket_limit,
        heartbeat_timeout_s=config.heartbeat_timeout_ms * 1e-3,
    )
    return Guard(limits, period_ns=round(period_s * 1e9), reads=reads, writes=writes, name=name)


def _cycles(duration_ms: float, period_s: float) -> int:
    return max(1, math.ceil(duration_ms * 1e-3 / period_s))


def guard_of(rig: schema.Rig) -> tuple[str, schema.GuardBlock]:
    """Return the guard of a rig and its name."""
    return next((n, b) for n, b in rig.blocks.items() if isinstance(b, schema.GuardBlock))


def bus_of(rig: schema.Rig) -> tuple[str, schema.BusBlock]:
    """Return the bus block of a rig and its name."""
    return next((n, b) for n, b in rig.blocks.items() if isinstance(b, schema.BusBlock))


def make_bus(rig: schema.Rig, backend: str, interface: str, second: str | None = None) -> Bus:
    """Return the bus of a rig.

    Parameters
    ----------
    backend : str
        `simulated`: in this process. `veth`: emulated drives at the other end. Else an interface.
    interface : str
        Where the frames go, unless in this process.
    second : str, optional
        The interface at the other end of the ring.

    Raises
    ------
    ValueError
        A drive or plant that cannot be; every reason.
    """
    name, config = bus_of(rig)
    reads, writes = paths(name, config)
    emulated = backend in ("simulated", "veth")
    slaves = [
        drive_config(key, slave, emulated)
        if isinstance(slave, schema.Drive)
        else terminal_config(key, slave)
        for key, slave in ring(config).items()
    ]
    settings: dict[str, Any] = {
        "name": name,
        "paths": reads | writes,
        "budget_us": float(config.exchange_budget_us),
        "bad_limit": config.bad_limit,
        "leak_cycles": config.leak_cycles,
        "clock": clock_config(config.clock, period_us(rig, name)),
    }
    if backend == "simulated":
        return SimulatedBus(drives=slaves, devices=emulated_devices(config), **settings)
    # pysoem comes in only with a bus that needs it
    from io_bridge.ethercat_bus import EthercatBus

    return EthercatBus(interface, slaves, second_interface=second, **settings)


def emulated_ring(config: schema.BusBlock) -> list[DrivePlant | str]:
    """Return what stands for each slave of a ring where there is no hardware: a drive's plant, or the name of a
    terminal's device.

    Raises
    ------
    ValueError
        Terminals without a device; all of them.
    """
    slaves = ring(config)
    bare = [
        name
        for name, slave in slaves.items()
        if isinstance(slave, schema.Terminal) and slave.device is None
    ]
    if bare:
        raise ValueError(
            "; ".join(f"terminal {name!r}: device: name one that stands for it" for name in bare)
        )
    return [
        drive_plant(slave) if isinstance(slave, schema.Drive) else str(slave.device)
        for slave in slaves.values()
    ]


def emulated_devices(config: schema.BusBlock) -> list[SlaveDevice]:
    """Make the emulated slaves of a ring, in its order.

    Raises
    ------
    ValueError
        A terminal without a device, or one that cannot be made.
    """
    from io_bridge.devices.catalogue import make_device

    return [
        DriveDevice(what) if isinstance(what, DrivePlant) else make_device(what)
        for what in emulated_ring(config)
    ]


def ring(config: schema.BusBlock) -> dict[str, schema.Drive | schema.Terminal]:
    """Return the slaves of a bus in ring order: those with a position there, the others in the order of the
    file, drives first.

    Raises
    ------
    ValueError
        Two slaves at one position, or a position beyond the last slave.
    """
    slaves = config.drives | config.terminals
    if len(slaves) != len(config.drives) + len(config.terminals):
        raise ValueError("a drive and a terminal have the same name")
    placed = {slave.position: key for key, slave in slaves.items() if slave.position is not None}
    others = iter([key for key, slave in slaves.items() if slave.position is None])
    given = [slave.position for slave in slaves.values() if slave.position is not None]
    if len(placed) != len(given) or max(given, default=0) >= len(slaves):
        raise ValueError(
            f"positions {sorted(given)} of {len(slaves)} slaves: each once, from 0 to {len(slaves) - 1}"
        )
    order = [placed[i] if i in placed else next(others) for i in range(len(slaves))]
    return {key: slaves[key] for key in order}


def clock_config(clock: schema.Clock | None, period: int) -> ClockConfig | None:
    """Return the lock of a cycle of `period` µs to the bus's clocks; None: it runs by its own."""
    if clock is None:
        return None
    return ClockConfig(
        period_ns=1000 * period,
        shift_ns=round(1000 * clock.shift_us),
        sync0_shift_ns=round(1000 * clock.sync0_shift_us),
        bandwidth_hz=clock.bandwidth_hz,
        tolerance_ns=1000 * clock.tolerance_us,
        settle_s=clock.settle_s,
        timeout_s=clock.timeout_s,
        difference_ns=1000 * clock.difference_us,
    )


def terminal_config(name: str, terminal: schema.Terminal) -> TerminalConfig:
    """Return the master's view of a slave that is no drive."""
    inputs, outputs = (
        tuple(ChannelConfig(key, **channel.model_dump()) for key, channel in group.items())
        for group in (terminal.inputs, terminal.outputs)
    )
    identity = Identity(**terminal.identity.model_dump()) if terminal.identity else None
    return TerminalConfig(name, inputs, outputs, identity, terminal.watchdog_ms)


def _object(text: str) -> tuple[int, int]:
    index, subindex = text.split(":")
    return int(index, 16), int(subindex)


def _pdo(entries: Iterable[str]) -> tuple[PdoEntry, ...]:
    parts = [entry.split("/") for entry in entries]
    return tuple((*_object(obj), int(bits)) for obj, bits in parts)


def drive_config(name: str, drive: schema.Drive, emulated: bool) -> DriveConfig:
    """Return the master's view of a drive; an emulated one says who it is, and has a torque sensor."""
    identity = Identity(**drive.identity.model_dump()) if drive.identity else None
    return DriveConfig(
        name=name,
        rated_torque_nm=drive.rated_torque_nm,
        peak_torque_nm=drive.peak_torque_nm,
        counts_per_rev=drive.counts_per_rev,
        sign=drive.sign,
        identity=SIMULATED_IDENTITY if emulated else identity,
        rx_pdo=_pdo(drive.rx_pdo),
        tx_pdo=_pdo(drive.tx_pdo) or ((*TX_PDO, SENSOR) if emulated else TX_PDO),
        watchdog_ms=drive.watchdog_ms,
        mode=drive.mode,
        velocity_limit_rad_s=drive.velocity_limit_rad_s,
        velocity_unit_counts_s=drive.velocity_unit_counts_s,
        quick_stop=drive.quick_stop,
        sync0=drive.sync0,
        setup=tuple(SdoWrite(*_object(s.object), s.value, s.bytes) for s in drive.setup),
    )


def drive_plant(drive: schema.Drive) -> DrivePlant:
    """Return the plant of a simulated drive; the default one where the rig describes none."""
    plant = DrivePlant(
        rated_torque_nm=drive.rated_torque_nm,
        peak_torque_nm=drive.peak_torque_nm,
        counts_per_rev=drive.counts_per_rev,
    )
    if drive.plant is None:
        return plant
    given: dict[str, Any] = drive.plant.model_dump()
    for angle in ("amplitude", "offset"):
        given[f"{angle}_rad"] = math.radians(given.pop(f"{angle}_deg"))
    return replace(plant, **given)

"""The composition root: from a rig to blocks, and from blocks to a plan."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from codegen.kernels.build import BuiltKernel
from estimators.encoder.filter import EncoderFilter
from io_bridge.bus import Bus
from io_bridge.buses.simulated_bus import SimulatedBus
from rig_configs import schema
from rig_configs.load import Ports, write_path
from rigloop.compose.excitation import Excitation
from rigloop.compose.guard_limits import beside, guard_config
from rigloop.compose.kernels import period_us
from rigloop.compose.observer_block import make_observer
from rigloop.compose.parts import backend_of, bus_of, find_bus, find_guard, guard_of
from rigloop.compose.relay import Relay
from rigloop.compose.wiring import ports_of
from rigloop.run_folder.messages import SUPERVISOR_SIGNALS
from rt_core.block import Block
from rt_core.plan import Plan, Task, plan_table
from rt_core.safety.guard import Guard

__all__ = [
    "Composed",
    "backend_of",
    "bus_of",
    "compose_live",
    "find_bus",
    "find_guard",
    "guard_of",
    "make_blocks",
    "make_filter",
    "make_guard",
    "make_kernel",
    "paths",
    "plan_blocks",
]


@dataclass(frozen=True)
class Composed:
    """A rig ready to run: its plan, its bus, and the signal that says that its output is at rest (None: no torque)."""

    plan: Plan
    bus: Bus
    safe: str | None


def compose_live(rig: schema.Rig, kernels: Mapping[str, BuiltKernel], bus: Bus) -> Composed:
    """Wire all blocks of a rig to its bus."""
    found = find_bus(rig)
    blocks: dict[str, Block] = {} if found is None else {found[0]: bus.block()}
    blocks |= make_blocks(rig, kernels)
    safe = next((b.writes["safe"] for b in blocks.values() if isinstance(b, Guard)), None)
    # the emulated drives of this process answer at once: a bus block off its core has lost it
    at_once = found is None or isinstance(bus, SimulatedBus)
    waits = 0 if at_once or found is None else found[1].exchange_budget_us * 1000
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
            case schema.ExcitationBlock():
                given = config.model_dump(exclude={"kind", "reads", "writes"})
                blocks[name] = Excitation(name, *paths(name, config), **given)
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
    """Return the guard of a rig."""
    reads, writes = paths(name, config)
    period = period_us(rig, name)
    limits = guard_config(rig, name, config)
    reads = beside(rig, name, config) | reads
    return Guard(limits, period_ns=1000 * period, reads=reads, writes=writes, name=name)

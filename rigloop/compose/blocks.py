"""The composition root: from a rig to blocks, and from blocks to a plan."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen.kernels.build import BuiltKernel
from rig_configs.live import live_signals
from rig_configs.schema import Rig
from rigloop.blocks.catalogue import kind_of, paths
from rigloop.blocks.kind import Making
from rigloop.compose.parts import (
    backend_of,
    backends_of,
    bus_of,
    bus_of_guard,
    find_bus,
    find_buses,
    find_guard,
    find_guards,
    guard_of,
    one_guard,
)
from rigloop.run_folder.messages import SUPERVISOR_SIGNALS
from rt_core.block import Block
from rt_core.plan import Plan, Task, plan_table
from rt_core.safety.guard import Guard

if TYPE_CHECKING:
    from io_bridge.buses.buses import Buses

__all__ = [
    "Composed",
    "backend_of",
    "backends_of",
    "bus_of",
    "bus_of_guard",
    "compose_live",
    "find_bus",
    "find_buses",
    "find_guard",
    "find_guards",
    "guard_of",
    "make_blocks",
    "one_guard",
    "paths",
    "plan_blocks",
]


@dataclass(frozen=True)
class Composed:
    """A rig ready to run: its plan, its buses, and the signals that say that each of its outputs is at rest."""

    plan: Plan
    buses: Buses
    safe: tuple[str, ...]


def compose_live(rig: Rig, kernels: Mapping[str, BuiltKernel], buses: Buses) -> Composed:
    """Wire all blocks of a rig to its buses."""
    # the process of the cycle has it; the others, which look at rigs, do without masters and emulators
    from io_bridge.buses.simulated_bus import SimulatedBus

    blocks: dict[str, Block] = {name: bus.block() for name, bus in buses.each.items()}
    blocks |= make_blocks(rig, kernels)
    safe = tuple(b.writes["safe"] for b in blocks.values() if isinstance(b, Guard))
    # the emulated drives of this process answer at once: a bus block off its core has lost it
    waits = {
        name: 0 if isinstance(buses.each[name], SimulatedBus) else config.exchange_budget_us * 1000
        for name, config in find_buses(rig).items()
    }
    return Composed(plan_blocks(rig, blocks, bus_waits_ns=waits), buses, safe)


def make_blocks(
    rig: Rig, kernels: Mapping[str, BuiltKernel], **settings: float
) -> dict[str, Block]:
    """Make every block of a rig but its bus.

    Parameters
    ----------
    settings : float
        Take the place of the rig's in an encoder filter: a log has a scale and a rate of its own.
    """
    return {
        name: make(Making(rig, name, block, kernels.get(name), settings))
        for name, block in rig.blocks.items()
        if (make := kind_of(block).make) is not None
    }


def plan_blocks(
    rig: Rig,
    blocks: Mapping[str, Block],
    inputs: Iterable[str] = (),
    bus_waits_ns: Mapping[str, int] | None = None,
) -> Plan:
    """Plan the tasks of a rig with those of its blocks that are given.

    Parameters
    ----------
    inputs : iterable of str
        Signals that nothing here writes, because their block was left out; the fastest task owns them.
    bus_waits_ns : mapping of bus to int, optional
        Longest time that each bus block may sleep in a cycle.
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
            bus_wait_ns=None
            if bus_waits_ns is None
            else sum(bus_waits_ns.get(b, 0) for b in task.blocks),
            bus=tuple(b for b in task.blocks if b in blocks and rig.blocks[b].kind == "bus"),
            steer=next(
                (s for b in task.blocks if (s := getattr(blocks.get(b), "steer", None))), None
            ),
            inputs=tuple(inputs) if name == fastest else (),
        )
        for name, task in rig.tasks.items()
    ]
    return plan_table(tasks, SUPERVISOR_SIGNALS, live_signals(rig.live, rig.stimuli))

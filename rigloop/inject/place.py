"""Blocks of faults into the tasks of a rig. A run without `--inject` never comes here."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from io_bridge.buses.buses import Buses
from io_bridge.buses.simulated_bus import SimulatedBus
from rig_configs.live import live_signals
from rig_configs.schema import Rig
from rigloop.compose.blocks import find_guards, paths
from rigloop.inject.kinds import InCycle
from rigloop.inject.limits import Limits, sensor_cells
from rigloop.inject.request import Injection, again
from rigloop.run_folder.messages import SUPERVISOR_SIGNALS
from rt_core.injection.inject import Act, InjectionBlock
from rt_core.plan import Plan, Task, loop_signal, plan_table


def block_name(number: int, rig: Rig) -> str:
    """Return the name of the block of the n-th injection, from 0: one that no block of the rig has."""
    free = (name for i in itertools.count(1) if (name := f"inject{i}") not in rig.blocks)
    return next(itertools.islice(free, number, None))


def task_of(injection: Injection) -> str:
    """Return the task that an injection acts in; that of the guard for one that acts from outside."""
    acts, lim = injection.fault.acts, injection.lim
    slow = isinstance(acts, InCycle) and acts.place in ("guide", "work")
    return lim.slow if slow else lim.fast


def stages(injections: Sequence[Injection], rig: Rig) -> dict[str, list[str]]:
    """Return the names of the blocks of every task in the order of their steps, those of faults among them."""
    found = {name: list(task.blocks) for name, task in rig.tasks.items()}
    for number, injection in enumerate(injections):
        if isinstance(injection.fault.acts, InCycle):
            order = found[task_of(injection)]
            order.insert(
                _index(injection.lim, order, injection.fault.acts), block_name(number, rig)
            )
    return found


def placed(plan: Plan, buses: Buses, injections: Sequence[Injection], rig: Rig) -> Plan:
    """Return a plan with the blocks of faults in its tasks."""
    tasks = {task.name: task for task in plan.tasks}
    made = {
        block_name(number, rig): _block(
            block_name(number, rig), injection, tasks[task_of(injection)], buses
        )
        for number, injection in enumerate(injections)
        if isinstance(injection.fault.acts, InCycle)
    }
    order = stages(injections, rig)
    changed = []
    for task in plan.tasks:
        blocks = {block.name: block for block in task.blocks} | made
        changed.append(replace(task, blocks=[blocks[name] for name in order[task.name]]))
    return plan_table(changed, SUPERVISOR_SIGNALS, live_signals(rig.live, rig.stimuli))


def disturbed(
    plan: Plan, buses: Buses, rig: Rig, asked: Sequence[str], *, series: bool = False
) -> Plan:
    """Return a plan with the blocks of faults that were asked for in words."""
    return placed(plan, buses, again(asked, rig, series=series), rig)


def _index(lim: Limits, order: list[str], acts: InCycle) -> int:
    place = acts.place
    if place == "head":
        return 0
    if place == "work":
        return len(order)
    if place == "sensor":
        # behind the block that writes it, which need not be the bus of the drive; a mirror is there from the start
        writer = _writer(lim.rig, sensor_cells(lim)[acts.cells[0]])
        return order.index(writer) + 1 if writer in order else 0
    if place == "guide":
        return order.index(str(lim.axis.model))
    if acts.cells:
        return order.index(lim.axis.guard)
    # a fault of the task is one that all its guards see in this cycle: before the first of them
    return min(order.index(guard) for guard in find_guards(lim.rig) if guard in order)


def _writer(rig: Rig, path: str) -> str:
    return next(
        name for name, block in rig.blocks.items() if path in paths(name, block)[1].values()
    )


def _block(name: str, injection: Injection, task: Task, buses: Buses) -> InjectionBlock:
    acts, lim = injection.fault.acts, injection.lim
    assert isinstance(acts, InCycle)
    have = sensor_cells(lim)
    bus = buses.each.get(lim.bus_name)
    link = bus.link if isinstance(bus, SimulatedBus) and acts.act == Act.ORDER else None
    return InjectionBlock(
        name,
        acts.act,
        task=task,
        arm=lim.guard_block.reads["arm"],
        own_cycle=loop_signal(task.name, "cycle"),
        at_s=injection.at_s,
        cycles=acts.cycles,
        every=acts.every,
        value=float(acts.order) if acts.act == Act.ORDER else injection.value * acts.scale,
        cells=[have[cell] for cell in acts.cells],
        order=link.order_address(lim.position) if link is not None else 0,
        keep=link,
        arming=injection.arming,
    )

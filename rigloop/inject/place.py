"""Blocks of faults into the tasks of a rig. A run without `--inject` never comes here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from io_bridge.buses.buses import Buses
from io_bridge.buses.simulated_bus import SimulatedBus
from rig_configs.schema import Rig
from rigloop.blocks.kinds.mechanism import MechanismBlock
from rigloop.compose.blocks import guard_of
from rigloop.inject.kinds import InCycle
from rigloop.inject.limits import Limits, limits_of, sensor_cells
from rigloop.inject.request import Injection, again
from rigloop.run_folder.messages import SUPERVISOR_SIGNALS
from rt_core.injection.inject import Act, InjectionBlock
from rt_core.plan import Plan, Task, loop_signal, plan_table


def block_name(number: int) -> str:
    """Return the name of the block of the n-th injection, from 0."""
    return f"inject{number + 1}"


def task_of(injection: Injection, lim: Limits) -> str:
    """Return the task that an injection acts in; that of the guard for one that acts from outside."""
    acts = injection.fault.acts
    slow = isinstance(acts, InCycle) and acts.place in ("guide", "work")
    return lim.slow if slow else lim.fast


def stages(injections: Sequence[Injection], lim: Limits) -> dict[str, list[str]]:
    """Return the names of the blocks of every task in the order of their steps, those of faults among them."""
    found = {name: list(task.blocks) for name, task in lim.rig.tasks.items()}
    for number, injection in enumerate(injections):
        if isinstance(injection.fault.acts, InCycle):
            order = found[task_of(injection, lim)]
            order.insert(_index(lim, order, injection.fault.acts.place), block_name(number))
    return found


def placed(plan: Plan, buses: Buses, injections: Sequence[Injection], lim: Limits) -> Plan:
    """Return a plan with the blocks of faults in its tasks."""
    tasks = {task.name: task for task in plan.tasks}
    made = {
        block_name(number): _block(
            block_name(number), injection, tasks[task_of(injection, lim)], buses, lim
        )
        for number, injection in enumerate(injections)
        if isinstance(injection.fault.acts, InCycle)
    }
    order = stages(injections, lim)
    changed = []
    for task in plan.tasks:
        blocks = {block.name: block for block in task.blocks} | made
        changed.append(replace(task, blocks=[blocks[name] for name in order[task.name]]))
    return plan_table(changed, SUPERVISOR_SIGNALS)


def disturbed(plan: Plan, buses: Buses, rig: Rig, asked: Sequence[str]) -> Plan:
    """Return a plan with the blocks of faults that were asked for in words."""
    lim = limits_of(rig)
    return placed(plan, buses, again(asked, lim), lim)


def _index(lim: Limits, order: list[str], place: str) -> int:
    rig = lim.rig
    if place == "head":
        return 0
    if place == "work":
        return len(order)
    if place == "sensor":
        return order.index(lim.bus_name) + 1
    if place == "estimate":
        return order.index(guard_of(rig)[0])
    return next(i for i, n in enumerate(order) if isinstance(rig.blocks.get(n), MechanismBlock))


def _block(
    name: str, injection: Injection, task: Task, buses: Buses, lim: Limits
) -> InjectionBlock:
    acts = injection.fault.acts
    assert isinstance(acts, InCycle)
    have = sensor_cells(lim.rig)
    bus = buses.each.get(lim.bus_name)
    link = bus.link if isinstance(bus, SimulatedBus) else None
    ordered = acts.act == Act.ORDER and link is not None
    return InjectionBlock(
        name,
        acts.act,
        task=task,
        arm=guard_of(lim.rig)[1].reads["arm"],
        own_cycle=loop_signal(task.name, "cycle"),
        at_s=injection.at_s,
        cycles=acts.cycles,
        every=acts.every,
        value=float(acts.order) if acts.act == Act.ORDER else injection.value * acts.scale,
        cells=[have[cell] for cell in acts.cells],
        order=link.order_address if ordered and link is not None else 0,
        keep=link,
    )

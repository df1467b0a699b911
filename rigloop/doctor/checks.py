"""Look at the host before trusting it with a rig: all checks, and what a rig asks of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

from io_bridge.host import doctor as bus
from rig_configs.schema import Rig
from rigloop.compose.blocks import backends_of, find_buses
from rigloop.compose.parts import EMULATED
from rigloop.doctor import software
from rigloop.host.interface import cards
from rt_core.doctor import hypervisor, kernel, memory, processor, rights, touches, wall_clock
from rt_core.doctor.check import Check, Demands, TaskDemand, Topic, by_severity
from rt_core.host.facts import Host

CheckFunction = Callable[[Host, Demands], Check]

# some milliseconds in all: they may stand before a run
QUICK: tuple[CheckFunction, ...] = (
    rights.priority,
    rights.memory_lock,
    rights.affinity,
    kernel.group_share,
    kernel.throttling,
    kernel.preemption,
    kernel.isolation,
    kernel.tick,
    processor.governor,
    processor.turbo,
    processor.idle,
    processor.siblings,
    processor.clock_source,
    hypervisor.steal_accounting,
    wall_clock.wall_clock,
    memory.free,
    memory.swap,
    memory.shared,
    memory.huge_pages,
    bus.raw_sockets,
    bus.master,
    bus.network_card,
    bus.card_interrupts,
    bus.card_coalescing,
    bus.card_offloads,
    software.kernel_cache,
)
# these measure, start a process, or read every installed package
SLOW: tuple[CheckFunction, ...] = (
    hypervisor.steal,
    touches.page_touches,
    bus.network_namespace,
    software.package_names,
    software.compiler,
)


def demands_of(rig: Rig, backend: str | None = None) -> Demands:
    """Return what a rig asks of the host; `backend` takes the place of the rig's own."""
    buses = find_buses(rig)
    backends = backends_of(rig, backend)
    budgets = [bus.exchange_budget_us for bus in buses.values()]
    return Demands(
        tasks=tuple(
            TaskDemand(
                task,
                config.period_us,
                config.priority,
                config.core,
                0 if config.spin_us == "auto" else config.spin_us,  # chosen within its duty
            )
            for task, config in rig.tasks.items()
        ),
        bus_tasks=tuple(
            t for t, config in rig.tasks.items() if not buses.keys().isdisjoint(config.blocks)
        ),
        exchange_budget_us=min(budgets, default=Demands.exchange_budget_us),
        cards=cards(rig, backends),
        veth="veth" in backends.values(),
    )


def demands_without_rig(backend: str | None = None) -> Demands:
    """Return what any rig may ask of the host; of its bus, what `backend` says."""
    if backend is None:
        return Demands()
    return Demands(cards=() if backend in EMULATED else (backend,), veth=backend == "veth")


def examine(
    demands: Demands,
    checks: Iterable[CheckFunction] = (*QUICK, *SLOW),
    host: Host = Host(),  # noqa: B008
) -> list[Check]:
    """Run checks, those that wait beside each other, and return what they say, worst first.

    A check that meets something that it does not understand is amber, never an end of the run.
    """

    def one(check: CheckFunction) -> Check:
        try:
            return check(host, demands)
        except (OSError, ValueError) as error:
            cause = (inspect.getdoc(check) or "").split("\n")[0]
            topic = Topic(check.__name__.replace("_", " "), cause)
            return topic.unknown(f"{type(error).__name__}: {error}", "tell us with this line")

    checks = list(checks)
    slow = [check for check in checks if check in SLOW]
    with ThreadPoolExecutor(max_workers=max(1, len(slow))) as beside:
        waiting = [beside.submit(one, check) for check in slow]
        found = [one(check) for check in checks if check not in SLOW]
        found += [future.result() for future in waiting]
    return by_severity(found)

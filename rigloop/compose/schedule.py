"""The tasks of a rig on their cores for `rigloop check`: a mistake where a cycle cannot end in time, else figures."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from codegen.bounds.machine import forget_costs
from codegen.kernels.build import BuiltKernel
from rig_configs.load import LoadedRig
from rig_configs.mistakes import Mistake
from rig_configs.schema import Rig
from rigloop.compose.block_costs import LOOP, BlockCost, block_costs
from rigloop.compose.parts import EMULATED, backends_of, find_buses
from rt_core.timing.response import MOST_DUTY, Load, Response, duties, fits, responses

LONGEST = 64  # times its period, up to which a longer one is looked for
SHOWN = 3  # blocks of a cycle that are named
# the loop's thread on the core of its slowest task, as rt_core/loop/watchdog.pxd has it
WATCHDOG, WATCHDOG_NS, WATCHDOG_PRIORITY = "the watchdog", 2_000_000, 95


class TaskTiming(msgspec.Struct, frozen=True):
    """The timing of one task, as far as its code decides it."""

    task: str
    core: int | None
    priority: int
    period_us: float
    cycle_us: float
    """Longest time of a cycle by itself."""
    response_us: float | None
    """From its deadline to its end, with all neighbours on its core; None: it may miss the next deadline."""
    blocks: tuple[BlockCost, ...]


@dataclass(frozen=True)
class Scheduled:
    """The tasks of a rig in figures."""

    timings: tuple[TaskTiming, ...] = ()
    mistakes: tuple[Mistake, ...] = ()
    notes: tuple[str, ...] = ()


def examine_schedule(loaded: LoadedRig, kernels: Mapping[str, BuiltKernel]) -> Scheduled:
    """Analyse the responses of all tasks of a rig on this machine.

    Parameters
    ----------
    kernels : mapping of str to BuiltKernel
        Of its observers.
    """
    found = judge(loaded, block_costs(loaded, kernels))
    if found.mistakes:
        # nothing is refused for costs that were kept from another day
        forget_costs()
        found = judge(loaded, block_costs(loaded, kernels))
    return found


def judge(loaded: LoadedRig, costs: Mapping[str, Sequence[BlockCost]]) -> Scheduled:
    """Analyse the responses of all tasks, with the costs of their blocks given."""
    rig = loaded.rig
    tasks = [_load(rig, name, costs[name]) for name in rig.tasks]
    loads = [*tasks, _watchdog(tasks, costs)]
    cores = sorted(os.sched_getaffinity(0))
    found = responses(loads, len(cores))
    timings = tuple(
        TaskTiming(
            load.name,
            load.core,
            load.priority,
            load.period_ns * 1e-3,
            load.cost_ns * 1e-3,
            None if (ns := found[load.name].response_ns) is None else ns * 1e-3,
            tuple(costs[load.name]),
        )
        for load in tasks
    )
    mistakes = [
        _mistake(loaded, response, costs[name], loads, cores)
        for name, response in found.items()
        if response.response_ns is None and name in rig.tasks
    ]
    if not mistakes:
        mistakes += _too_busy(loaded, tasks)
    notes = [*_notes(rig, costs)]
    is_measured = any(cost.how == "measured" for parts in costs.values() for cost in parts)
    # what is measured once may be a neighbour's doing: only what is counted refuses
    if mistakes and is_measured and not judge(loaded, counted_only(costs)).mistakes:
        notes += [f"by a single measurement: {mistake}" for mistake in mistakes]
        mistakes = []
    return Scheduled(timings, tuple(mistakes), tuple(notes))


def counted_only(costs: Mapping[str, Sequence[BlockCost]]) -> dict[str, list[BlockCost]]:
    """Return costs in which nothing that was measured counts."""
    return {
        name: [c if c.how == "counted" else BlockCost(c.block, 0, 0, "unknown") for c in parts]
        for name, parts in costs.items()
    }


def _load(rig: Rig, name: str, costs: Sequence[BlockCost]) -> Load:
    task = rig.tasks[name]
    period_ns = task.period_us * 1000
    return Load(
        name,
        period_ns,
        sum(cost.worst_ns for cost in costs),
        task.priority,
        task.core,
        # chosen when it runs, within what the work leaves: no reason for a mistake
        0 if task.spin_us == "auto" else task.spin_us * 1000,
        sum(cost.usual_ns for cost in costs),
    )


def _watchdog(tasks: Sequence[Load], costs: Mapping[str, Sequence[BlockCost]]) -> Load:
    """Return the demand of the watchdog: a look at every task costs less than what a task does around its blocks."""
    slowest = max(tasks, key=lambda load: load.period_ns)
    cost_ns = next(cost.worst_ns for cost in costs[slowest.name] if cost.block == LOOP)
    return Load(WATCHDOG, WATCHDOG_NS, cost_ns, WATCHDOG_PRIORITY, slowest.core, is_task=False)


def _mistake(
    loaded: LoadedRig,
    response: Response,
    costs: Sequence[BlockCost],
    loads: Sequence[Load],
    cores: Sequence[int],
) -> Mistake:
    load = response.load
    problem = f"a cycle takes up to {_us(load.cost_ns)} µs ({_largest(costs)})"
    taken = {name: ns for name, ns in response.taken_ns.items() if ns}
    if load.cost_ns >= load.period_ns:
        problem += ", which is longer than the period"
    elif taken:
        core = "any core" if load.core is None else f"core {load.core}"
        others = " and ".join(f"{name} {_us(ns)} µs" for name, ns in taken.items())
        problem += f", and on {core} it may wait for {others}: it may not end before the next one"
    would = [*_remedies(load, loads, cores)]
    remedy = (
        "would do: " + "; or ".join(would)
        if would
        else ("take a cheaper kernel (rigloop model advise), fewer blocks, or a faster machine")
    )
    key = f"tasks.{load.name}.period_us"
    return Mistake(str(loaded.path), key, problem, remedy, load.period_ns // 1000)


def _remedies(load: Load, loads: Sequence[Load], cores: Sequence[int]) -> Iterator[str]:
    """Find changes of one kind after each of which this task fits; every one has been analysed."""
    n = len(cores)

    def would(changed: Mapping[str, Load]) -> bool:
        tried = [changed.get(other.name, other) for other in loads]
        core = changed.get(load.name, load).core
        is_free = core is None or duties(tried)[core] <= MOST_DUTY
        return is_free and responses(tried, n)[load.name].response_ns is not None

    used = {other.core for other in loads if other.name != WATCHDOG}
    free = next((core for core in cores if core not in used), None)
    alone = replace(load, core=free if free is not None else max(c or 0 for c in used) + 1)
    if load.cost_ns < load.period_ns and would({load.name: alone}):
        yield f"core = {free}" if free is not None else "a core of its own, on a machine with more"
    spinning = {o.name: replace(o, spin_ns=0) for o in loads if o.core == load.core and o.spin_ns}
    if spinning and would(spinning):
        yield f"no spin of {' and '.join(spinning)}"
    by_rate = {
        other.name: replace(other, priority=len(loads) - rank)
        for rank, other in enumerate(sorted(loads, key=lambda o: o.period_ns))
        if other.name != WATCHDOG
    }
    if would(by_rate) and fits([by_rate.get(other.name, other) for other in loads], n):
        yield "the higher priority for the shorter period"
    others = [other for other in loads if other is not load and other.name != WATCHDOG]
    base = min(other.period_ns for other in (load, *others))
    for times in range(load.period_ns // base + 1, LONGEST * load.period_ns // base):
        period_ns = times * base
        # the shortest one is the base of all others
        is_whole = load.period_ns > base or all(o.period_ns % period_ns == 0 for o in others)
        if is_whole and would({load.name: replace(load, period_ns=period_ns)}):
            yield f"period_us = {period_ns // 1000}"
            return


def _too_busy(loaded: LoadedRig, loads: Sequence[Load]) -> Iterator[Mistake]:
    for core, share in duties(loads).items():
        if share <= MOST_DUTY:
            continue
        names = [load.name for load in loads if load.core == core]
        longest = max((load for load in loads if load.core == core), key=lambda o: o.spun_ns)
        problem = (
            f"work and spin of {' and '.join(names)} take up to {100 * share:.0f} % of core {core}: at most "
            f"{100 * MOST_DUTY:.0f} %, because the kernel throttles real-time threads above that"
        )
        less = int(longest.spun_ns - (share - MOST_DUTY) * longest.period_ns) // 1000
        remedy = f"spin at most {less}" if less >= 0 else "put one of them on another core"
        key = f"tasks.{longest.name}.spin_us"
        yield Mistake(
            str(loaded.path), key, problem, remedy, loaded.rig.tasks[longest.name].spin_us
        )


def _notes(rig: Rig, costs: Mapping[str, Sequence[BlockCost]]) -> Iterator[str]:
    auto = [name for name, task in rig.tasks.items() if task.spin_us == "auto"]
    if auto:
        yield f"the spin of {', '.join(auto)} is chosen when it runs, and no response here has it in it"
    for c in (c for parts in costs.values() for c in parts if c.why):
        yield f"the bound of {c.block} is not known: {c.why}"
    for c in (c for parts in costs.values() for c in parts if any(c.rare_ns)):
        singular, reassembled = c.rare_ns
        yield (
            f"a step of {c.block} takes up to {_us(singular)} µs near a singular pose, and up to {_us(reassembled)} µs "
            "after lost cycles, which may cost further cycles: the responses above do not include these"
        )
    unknown = [c.block for parts in costs.values() for c in parts if c.how == "unknown"]
    if unknown:
        yield (
            f"the time of {', '.join(unknown)} is not known, and counts as none: check compiles no blocks but models"
        )
    backends = backends_of(rig)
    for name, bus in find_buses(rig).items():
        if backends[name] not in EMULATED:
            yield (
                f"blocks.{name}: it waits up to {bus.exchange_budget_us} µs for its frames on {backends[name]}, "
                "which no response here has in it"
            )


def in_words(timings: Sequence[TaskTiming]) -> list[str]:
    """Return a line for each task."""
    lines = []
    for t in timings:
        where = "any core" if t.core is None else f"core {t.core}"
        ends = (
            ""
            if t.response_us is None
            else f", ends within {_short(t.response_us)} of {t.period_us:g} µs"
        )
        lines.append(
            f"{t.task}: a cycle takes up to {_short(t.cycle_us)} µs ({_largest(t.blocks)}) on {where}{ends}"
        )
    return lines


def _largest(costs: Sequence[BlockCost]) -> str:
    most = sorted(costs, key=lambda cost: -cost.worst_ns)[:SHOWN]
    return ", ".join(f"{c.block} {_us(c.worst_ns)} {c.how}" for c in most if c.worst_ns)


def _us(ns: float) -> str:
    return _short(ns * 1e-3)


def _short(us: float) -> str:
    return f"{us:.3g}" if us < 1000 else f"{us:.0f}"

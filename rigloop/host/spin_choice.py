"""The spins that a rig leaves to be chosen: measured on each core while the rest of the start goes on."""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from rig_configs.schema import Rig, Task
from rt_core.host.spin import MEASURE_S, MOST_SHARE, SLOWEST_NS, Spin, choose_spin
from rt_core.loop.calibrate import measure_wakes
from rt_core.plan import Plan

Measuring = dict[str, Future[Spin]]


def start_measuring(rig: Rig) -> Measuring:
    """Begin to measure for each task with `spin_us = "auto"`; nothing waits if there is none.

    Only the highest task of a core may spin, so the others, and those without a core of their own, get none.
    """
    found: Measuring = {}
    for name, task in rig.tasks.items():
        if task.spin_us == "auto" and is_highest(rig, name):
            pool = ThreadPoolExecutor(1, thread_name_prefix="calibrate")
            found[name] = pool.submit(_measure, task)
            pool.shutdown(wait=False)
    return found


def is_highest(rig: Rig, name: str) -> bool:
    """Decide if a task has a core on which no other task has a priority as high as its own."""
    task = rig.tasks[name]
    return task.core in os.sched_getaffinity(0) and all(
        other.core != task.core or other.priority < task.priority
        for key, other in rig.tasks.items()
        if key != name
    )


def _measure(task: Task) -> Spin:
    period_ns = task.period_us * 1000
    every_ns = min(period_ns, SLOWEST_NS)
    n = int(MEASURE_S * 1e9) // every_ns
    try:
        late = measure_wakes(every_ns, n, priority=task.priority, core=task.core)
    except PermissionError:
        # without the right to FIFO the task has no other wakes than this either
        late = measure_wakes(every_ns, n, core=task.core)
    return choose_spin(late, period_ns)


def with_spins(plan: Plan, measured: Measuring) -> tuple[Plan, dict[str, Spin]]:
    """Wait for what is being measured and put it into the plan's tasks."""
    spins = {name: future.result() for name, future in measured.items()}
    tasks = tuple(
        replace(task, spin_ns=spins[task.name].spin_ns) if task.name in spins else task
        for task in plan.tasks
    )
    return replace(plan, tasks=tasks), spins


def spin_in_words(asked_us: int | str, chosen: dict[str, Any] | None, last_ns: float) -> str:
    """Return how long a task spun, and why not as long as it was asked to.

    Parameters
    ----------
    asked_us : int or "auto"
        By the rig.
    chosen : dict or None
        A `Spin` as plain data, where it was measured.
    last_ns : float
        Of the last cycle.
    """
    if chosen is None and asked_us == "auto":
        return "none: not the highest task of a core of its own"
    if chosen is None and not asked_us:
        return ""
    asked_ns = 1000 * int(asked_us) if chosen is None else chosen["spin_ns"]
    words = f"{asked_ns / 1e3:.0f} µs"
    if chosen is not None:
        bound = f", bound by the {chosen['bound']}" if chosen["bound"] else ""
        words += (
            f", from a p99.9 of {chosen['p99_9_ns'] / 1e3:.0f} µs in {chosen['wakes']} wakes{bound}"
        )
    if last_ns < asked_ns:
        share = f"{100 * MOST_SHARE:.0f} % of the period"
        words += f"; at the end {last_ns / 1e3:.0f} µs, as the work leaves no more of {share}"
    return words

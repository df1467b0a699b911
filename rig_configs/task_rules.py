"""The rules for the tasks of a rig file: periods, spins, cores; each block is stepped once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rig_configs.mistakes import Mistake, near
from rig_configs.wiring import OF_THE_LOOP, tables

# of a period, spin and work together: beyond 95 % the kernel stops real-time threads; as rt_core.host.spin.MOST_SHARE
MOST_DUTY = 0.85


def _above(name: str, tasks: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return a task that shares the core of `name` and does not give way to it."""
    core, priority = tasks[name].get("core"), tasks[name].get("priority", 80)
    if type(core) is not int or type(priority) is not int:
        return None
    for other, task in tasks.items():
        level = task.get("priority", 80)
        if other != name and task.get("core") == core and type(level) is int and level >= priority:
            return other
    return None


def task_mistakes(file: str, data: Mapping[str, Any]) -> Iterator[Mistake]:
    tasks, blocks = tables(data, "tasks"), tables(data, "blocks")
    periods = {
        n: t["period_us"]
        for n, t in tasks.items()
        if type(t.get("period_us")) is int and t["period_us"] > 0
    }
    fastest = min(periods, key=lambda name: periods[name], default=None)
    for name, period in periods.items():
        if fastest is not None and period % periods[fastest]:
            base = periods[fastest]
            nearest = f"{period // base * base or base} or {(period // base + 1) * base}"
            problem = f"not a multiple of tasks.{fastest}.period_us = {base}"
            yield Mistake(file, f"tasks.{name}.period_us", problem, f"take {nearest}", period)
        spin = tasks[name].get("spin_us", 0)
        if type(spin) is int and spin >= period:
            yield Mistake(
                file,
                f"tasks.{name}.spin_us",
                f"not below the period of {period}",
                f"spin at most {int(MOST_DUTY * period)}, so that the thread sleeps in each cycle",
                spin,
            )
        elif type(spin) is int and spin > MOST_DUTY * period:
            most = int(MOST_DUTY * period)
            yield Mistake(
                file,
                f"tasks.{name}.spin_us",
                f"{100 * spin / period:.0f} % of the period of {period}, before any work: at most "
                f"{100 * MOST_DUTY:.0f} %, beyond which the kernel takes real time away or ends the process",
                f"spin at most {most}; what the work takes comes off that while it runs",
                spin,
            )
        above = _above(name, tasks)
        if name in OF_THE_LOOP[1:]:
            problem = "signals under this name are those of the supervisor"
            yield Mistake(file, f"tasks.{name}", problem, "give the task another name")
        if spin and above is not None:
            yield Mistake(
                file,
                f"tasks.{name}.spin_us",
                f"task {above!r} has the same core and no lower priority: it would spin at its cost",
                "let only the highest task of a core spin",
                spin,
            )
    home: dict[str, str] = {}
    for task, table in tasks.items():
        listed = table.get("blocks", [])
        for block in listed if isinstance(listed, list) else []:
            key = f"tasks.{task}.blocks"
            if not isinstance(block, str):
                continue
            if block not in blocks:
                yield Mistake(
                    file,
                    key,
                    f"no block of this name: add [blocks.{block}]",
                    near(block, blocks),
                    block,
                )
            elif block in home:
                yield Mistake(
                    file, key, f"already stepped by task {home[block]!r}", "list it once", block
                )
            home.setdefault(block, task)
    for block in blocks:
        if block not in home:
            yield Mistake(
                file,
                f"blocks.{block}",
                "no task steps it",
                "list it in a task's blocks, or take it out",
            )

"""The tasks of a rig file among each other: periods, spins, cores; each block is stepped once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rig_configs.mistakes import Mistake, near
from rig_configs.wiring import tables
from rt_core.task import Figures, mistakes_between, stepped_twice


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


def _blocks(table: Mapping[str, Any]) -> list[str]:
    listed = table.get("blocks")
    return [b for b in listed if isinstance(b, str)] if isinstance(listed, list) else []


def task_mistakes(file: str, data: Mapping[str, Any]) -> Iterator[Mistake]:
    """Find what is wrong with tasks among each other; the schema has each one's own figures."""
    tasks, blocks = tables(data, "tasks"), tables(data, "blocks")
    figures = {}
    for name, table in tasks.items():
        period, spin = table.get("period_us"), table.get("spin_us")
        if type(period) is int and period > 0:
            figures[name] = Figures(period, spin if type(spin) is int else 0)
    named = {name: _blocks(table) for name, table in tasks.items()}
    for found in (*mistakes_between(figures, "us"), *stepped_twice(named)):
        yield Mistake(file, found.key, found.problem, found.remedy, found.value)
    for name, table in tasks.items():
        above = _above(name, tasks)
        if table.get("spin_us", 0) and above is not None:
            yield Mistake(
                file,
                f"tasks.{name}.spin_us",
                f"task {above!r} has the same core and no lower priority: it would spin at its cost",
                "let only the highest task of a core spin",
                table["spin_us"],
            )
        for block in named[name]:
            if block not in blocks:
                problem = f"no block of this name: add [blocks.{block}]"
                yield Mistake(file, f"tasks.{name}.blocks", problem, near(block, blocks), block)
    stepped = {block for listed in named.values() for block in listed}
    for block in blocks:
        if block not in stepped:
            remedy = "list it in a task's blocks, or take it out"
            yield Mistake(file, f"blocks.{block}", "no task steps it", remedy)

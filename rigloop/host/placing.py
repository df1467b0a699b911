"""Processors for a service, a page and its browser: the rig that they serve or show may run on the same machine."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Set
from typing import Protocol


class Placed(Protocol):
    """A task as far as its place counts: its period and its core, None if it has none of its own."""

    @property
    def period_us(self) -> int: ...

    @property
    def core(self) -> int | None: ...


def processors_beside(tasks: Iterable[Placed], allowed: Set[int]) -> set[int]:
    """Return the processors for whatever only looks on a rig.

    They are those that no task has for its own. Where there are none, they are those whose fastest task is the slowest:
    it has the longest time to be late in.

    Parameters
    ----------
    tasks : iterable of Placed
    allowed : set of int
        Processors that there are; the result is a part of them.
    """
    fastest_us: dict[int, int] = {}
    for task in tasks:
        if task.core in allowed and task.core is not None:
            fastest_us[task.core] = min(task.period_us, fastest_us.get(task.core, task.period_us))
    free = set(allowed) - set(fastest_us)
    if free:
        return free
    calmest_us = max(fastest_us.values(), default=0)
    return {core for core, period_us in fastest_us.items() if period_us == calmest_us}


def stay_beside(tasks: Iterable[Placed]) -> set[int]:
    """Move to the processors for whatever only looks on, with all that is started from now on; return them.

    Where the system does not let a process choose, it stays where it is.
    """
    found = processors_beside(tasks, os.sched_getaffinity(0))
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, found)
    return os.sched_getaffinity(0)


@contextlib.contextmanager
def on_processors(processors: Set[int]) -> Iterator[None]:
    """Have this thread, and all that it starts meanwhile, run on some processors; then let it return to its own.

    Where the system does not let a process choose, it stays where it is.
    """
    before = os.sched_getaffinity(0)
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, processors)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, before)

"""The result of a check, and the demands of a rig on the host."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """The severity of a finding, worst first.

    RED: the run does not keep its promises (no real-time rights, cycles certain to be lost, the bus out of
    reach, other code than ours). AMBER: it runs, but the tail of its lateness is longer, or nobody
    can know. GREEN: as it should be.
    """

    RED = "red"
    AMBER = "amber"
    GREEN = "green"


@dataclass(frozen=True)
class Check:
    """One thing that was looked at.

    Attributes
    ----------
    name : str
    level : Level
    found : str
        The value as it is now, or why it cannot be read.
    cause : str
        Why it matters.
    remedy : str
        Lines that can be pasted; empty when green.
    """

    name: str
    level: Level
    found: str
    cause: str
    remedy: str = ""


@dataclass(frozen=True)
class Topic:
    """The part of a check that does not depend on the finding."""

    name: str
    cause: str

    def green(self, found: str) -> Check:
        """Return the check with nothing to do."""
        return Check(self.name, Level.GREEN, found, self.cause)

    def amber(self, found: str, remedy: str) -> Check:
        """Return the check with something to know."""
        return Check(self.name, Level.AMBER, found, self.cause, remedy)

    def red(self, found: str, remedy: str) -> Check:
        """Return the check with something to mend first."""
        return Check(self.name, Level.RED, found, self.cause, remedy)

    def unknown(self, why: str, remedy: str) -> Check:
        """Return the check as amber: a fact that cannot be read is not good."""
        return self.amber(f"unknown: {why}", remedy)


@dataclass(frozen=True)
class TaskDemand:
    """The demands of one task of a rig; `core` is None where the kernel chooses."""

    name: str
    period_us: int
    priority: int
    core: int | None = None
    spin_us: int = 0


@dataclass(frozen=True)
class Demands:
    """The demands of a rig on the host; the defaults hold without a rig.

    Attributes
    ----------
    tasks : tuple of TaskDemand
    bus_tasks : tuple of str
        Names of the tasks that exchange frames.
    exchange_budget_us : int
        How long a frame may take there and back; the shortest, of several buses.
    cards : tuple of str
        The network cards of real buses, those of second cables too: then real hardware hangs on every deadline.
    veth : bool or None
        Whether the run needs a network namespace of its own; None: no rig says.
    """

    tasks: tuple[TaskDemand, ...] = ()
    bus_tasks: tuple[str, ...] = ()
    exchange_budget_us: int = 100
    cards: tuple[str, ...] = ()
    veth: bool | None = None

    @property
    def priority(self) -> int:
        """Highest priority of all tasks."""
        return max((task.priority for task in self.tasks), default=90)

    @property
    def pinned(self) -> frozenset[int]:
        """Cores that tasks are pinned to."""
        return frozenset(task.core for task in self.tasks if task.core is not None)

    @property
    def cores(self) -> frozenset[int]:
        """Cores that tasks may run on: those they are pinned to, else all that are allowed."""
        if self.tasks and all(task.core is not None for task in self.tasks):
            return self.pinned
        return frozenset(os.sched_getaffinity(0))


def words(cores: Iterable[int]) -> str:
    """Return cores as the kernel's files list them, `0,1,5`."""
    return ",".join(map(str, sorted(cores)))


def by_severity(checks: Iterable[Check]) -> list[Check]:
    """Return red ones first, then amber, then green; within a level as they came."""
    order = list(Level)
    return sorted(checks, key=lambda check: order.index(check.level))


def banner(checks: Iterable[Check]) -> str:
    """Return the line that every consumer of a run shows: the red checks, or nothing."""
    red = [check.name for check in checks if check.level is Level.RED]
    return f"degraded: {', '.join(red)}" if red else ""


def is_good(checks: Iterable[Check]) -> bool:
    """Return whether no check is red."""
    return all(check.level is not Level.RED for check in checks)

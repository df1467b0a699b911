"""Rights of this process, tried or asked for as `rt_core.host.rights` does when a loop is built."""

from __future__ import annotations

from rt_core.doctor.check import Check, Demands, Topic
from rt_core.host import rights
from rt_core.host.facts import Host

PRIORITY = Topic("fifo priority", "without SCHED_FIFO every other process may run before the loop")
MEMORY_LOCK = Topic(
    "memory lock", "a page that was swapped out or never touched is fetched during a cycle"
)
AFFINITY = Topic("affinity", "a task that cannot be pinned moves, and is late after each move")


def priority(host: Host, demands: Demands) -> Check:
    """Try the highest priority of the rig."""
    return _of(PRIORITY, rights.fifo_priority(demands.priority))


def memory_lock(host: Host, demands: Demands) -> Check:
    """Ask for the limit; locks nothing."""
    return _of(MEMORY_LOCK, rights.may_lock_memory())


def affinity(host: Host, demands: Demands) -> Check:
    """Cores that tasks are pinned to are among those that this process may use."""
    return _of(AFFINITY, rights.affinity(demands.pinned))


def _of(topic: Topic, right: rights.Right) -> Check:
    return topic.green(right.why) if right.held else topic.red(right.why, right.remedy)

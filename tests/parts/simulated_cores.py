"""An exact simulation of fixed-priority tasks that spin before their deadlines: every event, in whole nanoseconds.

It knows nothing of response times: it takes the processor's side, as the kernel does. A thread wakes before its
deadline by its spin, takes its core from a thread of lower priority, queues behind those of its own, burns the core
until the deadline, then works; when it ends it sleeps until its next deadline, and periods that went by are lost.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rt_core.timing.response import Load


@dataclass
class Thread:
    """A task as the core sees it; `left_ns` of its work, and the cycles that ended too late."""

    load: Load
    k: int = 0
    left_ns: int = 0
    late: int = 0
    longest_ns: int = 0
    rank: tuple[int, int] = (0, 0)

    @property
    def deadline_ns(self) -> int:
        return self.k * self.load.period_ns


@dataclass(order=True)
class Waking:
    at_ns: int
    number: int
    thread: Thread = field(compare=False)


def run(
    loads: Sequence[Load], until_ns: int, cost: Callable[[Load], int] = lambda load: load.cost_ns
) -> dict[str, Thread]:
    """Run tasks with cores of their own for so long; `cost` says how long each cycle works."""
    threads = [Thread(load) for load in loads]
    for core in {load.core for load in loads}:
        assert core is not None
        _run_core([thread for thread in threads if thread.load.core == core], until_ns, cost)
    return {thread.load.name: thread for thread in threads}


def _run_core(threads: Sequence[Thread], until_ns: int, cost: Callable[[Load], int]) -> None:
    asleep: list[Waking] = []
    for number, thread in enumerate(threads):
        thread.left_ns = cost(thread.load)
        heapq.heappush(asleep, Waking(-thread.load.spun_ns, number, thread))
    ready: list[Thread] = []
    now, came = min(waking.at_ns for waking in asleep), 0
    while now < until_ns:
        while asleep and asleep[0].at_ns <= now:
            woken = heapq.heappop(asleep)
            came += 1
            # behind those of its own priority; one that is preempted keeps its place before them
            woken.thread.rank = (-woken.thread.load.priority, came)
            ready.append(woken.thread)
        next_ns = asleep[0].at_ns if asleep else until_ns
        if not ready:
            now = next_ns
            continue
        thread = min(ready, key=lambda t: t.rank)
        if now < thread.deadline_ns:
            now = min(thread.deadline_ns, next_ns)  # spins
            continue
        took = min(thread.left_ns, next_ns - now)
        thread.left_ns -= took
        now += took
        if thread.left_ns > 0:
            continue
        ready.remove(thread)
        load, response = thread.load, now - thread.deadline_ns
        thread.longest_ns = max(thread.longest_ns, response)
        thread.late += response >= load.period_ns
        thread.k = max(thread.k + 1, now // load.period_ns + 1)
        thread.left_ns = cost(load)
        came += 1
        at = max(now, thread.deadline_ns - load.spun_ns)
        heapq.heappush(asleep, Waking(at, came, thread))

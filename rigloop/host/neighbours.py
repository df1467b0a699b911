"""The neighbours on a core or a priority: two tasks of a rig, or a task and the loop of another run on this machine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

from rig_configs.schema import Rig, Task
from rigloop.run_folder.process_state import TaskThread, cores_in_words, task_threads

LOOP = "rigloop.live.cycle"


def shared_by_tasks(rig: Rig) -> list[str]:
    """Return what two tasks of a rig share: on one core the lower one waits, and of equal ones whoever came later."""
    found = []
    for (first, a), (second, b) in combinations(rig.tasks.items(), 2):
        if a.core is None or a.core != b.core:
            continue
        if a.priority == b.priority:
            found.append(
                f"tasks {first} and {second} share core {a.core} at one priority, {a.priority}: each waits for the "
                "other to end its cycle; give the one with the shorter period the higher priority, or another core"
            )
        else:
            high, low = (first, second) if a.priority > b.priority else (second, first)
            found.append(
                f"tasks {first} and {second} share core {a.core}: {low} waits while {high} steps or spins"
            )
    return found


def shared_with_others(tasks: Mapping[str, Task], own: int, fifo: bool = True) -> list[str]:
    """Return which loops of other runs, of any user, share cores with these tasks.

    Parameters
    ----------
    tasks : mapping of str to Task
    own : int
        The cycle process of this run, 0 if there is none yet.
    fifo : bool
        This run's tasks have their FIFO priorities.
    """
    found = []
    for pid in _loops():
        if pid == own:
            continue
        threads = task_threads(pid)
        for name, task in tasks.items():
            for other, thread in threads.items():
                words = _words(name, task, other, thread, fifo)
                if words:
                    found.append(f"another run (process {pid}) {words}")
    return found


def _words(name: str, task: Task, other: str, thread: TaskThread, fifo: bool) -> str:
    cores = frozenset([task.core]) if task.core is not None else frozenset(os.sched_getaffinity(0))
    common = cores & thread.cores
    mine, its = task.priority if fifo else 0, thread.priority
    bound = len(cores) == len(thread.cores) == 1
    # of two that may both go elsewhere, only equals are in each other's way wherever they meet
    if not common or not (bound or mine == its > 0):
        return ""
    who = (
        "either waits for the other"
        if mine == its
        else f"{name} waits for it"
        if its > mine
        else f"it waits for {name}"
    )
    return (
        f"steps its task {other} on {cores_in_words(common)} at priority {its}, where task {name} of this run has "
        f"priority {mine}: {who}" + ("" if bound else " where they meet")
    )


def _loops() -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if LOOP.encode() in words:
                found.append(int(entry.name))
    return sorted(found)

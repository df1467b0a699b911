"""The state of a process, as the kernel reports it: which one it is, if it lives or stands still, and its threads."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from pathlib import Path

import msgspec

POLICIES = {
    os.SCHED_OTHER: "SCHED_OTHER",
    os.SCHED_FIFO: "SCHED_FIFO",
    os.SCHED_RR: "SCHED_RR",
    os.SCHED_BATCH: "SCHED_BATCH",
    os.SCHED_IDLE: "SCHED_IDLE",
}
THREAD_PREFIX = "rt:"  # how the loop names the threads of its tasks
WATCHDOG_THREAD = "rt-watchdog"
STOPPED = ("T", "t")


class Process(msgspec.Struct, frozen=True):
    """A process that no other one can be taken for: numbers come back, and never with the same start."""

    pid: int
    start_ticks: int
    """Field 22 of `/proc/PID/stat`: clock ticks from the boot to its start."""

    @classmethod
    def of(cls, pid: int) -> Process:
        """Return the process that has this number now; its start is 0 if there is none."""
        return cls(pid, start_ticks(pid))

    @property
    def lives(self) -> bool:
        """True: it has not ended; a zombie has."""
        return self.start_ticks > 0 and start_ticks(self.pid) == self.start_ticks


@dataclass(frozen=True)
class TaskThread:
    """The scheduling of a thread of a loop."""

    tid: int
    policy: int
    priority: int
    cores: frozenset[int]

    def words(self) -> str:
        """Return policy and cores as a person writes them."""
        policy = POLICIES.get(self.policy, f"policy {self.policy}")
        rank = f" {self.priority}" if self.priority else ""
        return f"{policy}{rank} on {cores_in_words(self.cores)}"


@functools.cache
def boot() -> str:
    """Return the name that the kernel gave to this boot; empty if it does not say."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def start_ticks(pid: int) -> int:
    """Return when a process was started, in clock ticks from the boot; 0: it has ended."""
    fields = _stat(f"/proc/{pid}/stat")
    return int(fields[19]) if fields and fields[0] not in "ZX" else 0


def began_ns(pid: int) -> int:
    """Return when a process was started (CLOCK_MONOTONIC, while the machine does not sleep)."""
    return start_ticks(pid) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def stands_still(pid: int) -> bool:
    """Decide if a process was stopped, by SIGSTOP or by a debugger."""
    fields = _stat(f"/proc/{pid}/stat")
    return bool(fields) and fields[0] in STOPPED


def task_threads(pid: int) -> dict[str, TaskThread]:
    """Return the threads that step the tasks of a loop, by task."""
    return {
        name.removeprefix(THREAD_PREFIX): thread
        for name, thread in loop_threads(pid)
        if name.startswith(THREAD_PREFIX)
    }


def loop_threads(pid: int) -> list[tuple[str, TaskThread]]:
    """Return the threads of a loop that have to be on time, with their names: those of tasks, and the watchdog's.

    The kernel keeps 15 characters of a name, so two tasks may have the same one here.
    """
    found = []
    try:
        tids = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    for tid in map(int, tids):
        try:
            name = Path(f"/proc/{pid}/task/{tid}/comm").read_text().rstrip("\n")
            if name.startswith(THREAD_PREFIX) or name == WATCHDOG_THREAD:
                thread = TaskThread(
                    tid,
                    os.sched_getscheduler(tid),
                    os.sched_getparam(tid).sched_priority,
                    frozenset(os.sched_getaffinity(tid)),
                )
                found.append((name, thread))
        except OSError:
            # it has ended meanwhile
            continue
    return found


def cores_in_words(cores: frozenset[int]) -> str:
    """Return `core 2` or `cores 0, 1`."""
    return ("core " if len(cores) == 1 else "cores ") + ", ".join(map(str, sorted(cores)))


def _stat(path: str) -> list[str]:
    # from the third field on: the second, a name, may hold anything
    try:
        return Path(path).read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []

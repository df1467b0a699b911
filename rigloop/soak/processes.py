"""The kernel's figures on the processes of a run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROLES = {
    "rigloop.live.cycle": "cycle",
    "io_bridge.recording.recorder": "recorder",
    "io_bridge.emulator.serving.sim_segment": "segment",
}
SUPERVISOR = "supervisor"
TASK = "rt:"  # how the loop names its threads


@dataclass(frozen=True)
class ProcessSample:
    """One process at one moment.

    Attributes
    ----------
    resident_kib : int
        All of its pages in memory.
    own_kib : int
        Of those, the ones that are neither a file's nor shared: where a leak shows.
    threads, files : int
        Threads, open files.
    faults : dict of str to int
        Page faults since its start of each task's thread, minor and major.
    """

    resident_kib: int
    own_kib: int
    threads: int
    files: int
    faults: dict[str, int]


def processes_of_run(supervisor: int) -> dict[str, int]:
    """Return a supervisor's process and those of its descendants that have a role in a run, by role."""
    children: dict[int, list[int]] = {}
    for pid, parent in _parents():
        children.setdefault(parent, []).append(pid)
    found = {SUPERVISOR: supervisor}
    waiting = [supervisor]
    while waiting:
        for pid in children.get(waiting.pop(), []):
            waiting.append(pid)
            words = _text(pid, "cmdline").split("\0")
            for module, role in ROLES.items():
                # the innermost one: on veth the outer process only holds the namespace
                if module in words:
                    found[role] = pid
    return found


def sample(pid: int) -> ProcessSample | None:
    """Look at a process; None once it has ended."""
    status = dict(line.split(":", 1) for line in _text(pid, "status").splitlines() if ":" in line)
    try:
        return ProcessSample(
            resident_kib=_kib(status["VmRSS"]),
            own_kib=_kib(status["RssAnon"]),
            threads=int(status["Threads"]),
            files=len(os.listdir(f"/proc/{pid}/fd")),
            faults=_faults(pid),
        )
    except (KeyError, OSError):
        # a zombie has no memory, and one that is gone has nothing
        return None


def _parents() -> Iterator[tuple[int, int]]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            fields = _text(int(entry.name), "stat").rpartition(")")[2].split()
            if fields:
                yield int(entry.name), int(fields[1])


def _faults(pid: int) -> dict[str, int]:
    found = {}
    for thread in os.listdir(f"/proc/{pid}/task"):
        head, _, tail = _text(pid, f"task/{thread}/stat").rpartition(")")
        name = head.partition("(")[2]
        if name.startswith(TASK):
            fields = tail.split()
            found[name.removeprefix(TASK)] = int(fields[7]) + int(fields[9])
    return found


def _kib(text: str) -> int:
    return int(text.split()[0])


def _text(pid: int, name: str) -> str:
    try:
        return Path(f"/proc/{pid}/{name}").read_text(errors="replace")
    except OSError:
        return ""

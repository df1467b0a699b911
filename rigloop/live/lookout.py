"""The supervisor's eyes while a run goes on: whatever is lost, stands still or was demoted is seen, shown and kept."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

from rig_configs.schema import Rig
from rigloop.host.neighbours import shared_with_others
from rigloop.live.view import SHOWN_S
from rigloop.run_folder.process_state import (
    THREAD_PREFIX,
    WATCHDOG_THREAD,
    TaskThread,
    loop_threads,
    stands_still,
    start_ticks,
)
from rigloop.run_folder.run_end import errno_in_words
from rt_core.plan import loop_signal
from rt_core.signals.layout import CutError
from rt_core.signals.table import RingReader, SignalTable

FROZEN_S = 1.0  # until a process that stands still is ended
STALL_MARGIN_S = 3.0  # for the loop's own watchdog, and for what follows it
CLOSE_LOOK_S = 0.25
WIDE_LOOK_S = 2.0
MOST_STEP_S = 0.1  # a supervisor that was away itself does not blame the others for it
LITTLE_ROOM = 4 << 20
NAME_LENGTH = 15  # of a thread's name the kernel keeps so much


class Lookout:
    """Looks once a beat; use as a context manager.

    Parameters
    ----------
    shared : SignalTable
        Of the run, writable.
    rig : Rig
    folder : Path
        Of the run.
    cycle : int
        The process that steps.
    children : dict of str to Popen
        Those that look on, by role; one that takes another's place may be put in.

    Attributes
    ----------
    alarms, notes : dict of str to str
        What was seen, for good; alarms decide the verdict.
    now : dict of str to str
        What is wrong at this moment.
    frozen_s : float
        Since the newest cycle of the task that stands still longest.
    demoted : bool
        A task's thread does not run as it did.
    lost_recorder : bool
        None runs at this moment.
    """

    def __init__(
        self,
        shared: SignalTable,
        rig: Rig,
        folder: Path,
        cycle: int,
        children: dict[str, subprocess.Popen[str]],
    ) -> None:
        self.alarms: dict[str, str] = {}
        self.notes: dict[str, str] = {}
        self.now: dict[str, str] = {}
        self.frozen_s = 0.0
        self.demoted = False
        self.lost_recorder = False
        self.armed_at: float | None = None
        self._shared = shared
        self._rig = rig
        self._folder = folder
        self._cycle = cycle
        self.children = children
        self._rings = {task: RingReader(shared, task) for task in rig.tasks}
        self._table_id = _identity(shared.path)
        self._folder_id = _identity(folder)
        self._threads: dict[int, tuple[str, TaskThread]] = {}
        self._last = self._close = self._wide = time.monotonic()
        self._cycles: dict[str, float] = {}
        self._still_s = dict.fromkeys(rig.tasks, 0.0)
        self._table_missed = 0
        self._limit_s = STALL_MARGIN_S + 2e-6 * max(
            t.stall_cycles * t.period_us for t in rig.tasks.values()
        )

    def __enter__(self) -> Lookout:
        return self

    def __exit__(self, *exc: object) -> None:
        for ring in self._rings.values():
            ring.close()

    def look(self) -> None:
        """Look at everything whose time has come."""
        now = time.monotonic()
        step_s, self._last = min(now - self._last, MOST_STEP_S), now
        self._look_at_cycles(step_s)
        self.lost_recorder = False
        for role, child in self.children.items():
            # of a loop that has ended, all end
            if child.poll() is not None and start_ticks(self._cycle):
                self.lost_recorder |= role == "recorder"
                self._alarm(role, _how_it_ended(role, child, self._folder))
            else:
                self.now.pop(role, None)
        if now - self._close >= CLOSE_LOOK_S:
            self._close = now
            self._look_at_processes()
            self._look_at_threads()
            self._look_at_files()
        if now - self._wide >= WIDE_LOOK_S:
            self._wide = now
            self.look_around()

    def look_around(self, fifo: bool = False) -> None:
        """Look for other runs on the same cores; `fifo`: whether this one has priorities, till threads are seen."""
        if self._threads:
            fifo = any(thread.priority for _, thread in self._threads.values())
        for words in shared_with_others(self._rig.tasks, self._cycle, fifo):
            self.notes[words] = words
            self.now[words] = words

    @property
    def ends(self) -> bool:
        """Decide if the loop was asked to end; then a cycle that does not come is not missing."""
        return any(self._shared.value(loop_signal(task, "stop")) > 0.5 for task in self._rig.tasks)

    def gives_up(self) -> bool:
        """Decide if the cycle process has stood still for so long that it has to be ended from outside."""
        still = stands_still(self._cycle)
        if self.frozen_s < (FROZEN_S if still else self._limit_s) or (self.ends and not still):
            return False
        why = "it was stopped (SIGSTOP, or a debugger)" if still else "its own watchdog did not act"
        self._alarm(
            "cycle",
            f"no new cycle for {self.frozen_s:.1f} s: the cycle process hangs: {why}; it was ended (SIGKILL), "
            "and the drives' own watchdogs end the torque",
        )
        return True

    def _look_at_cycles(self, step_s: float) -> None:
        for task in self._rig.tasks:
            cycle = self._shared.value(loop_signal(task, "cycle"))
            moved = cycle != self._cycles.get(task)
            self._still_s[task] = 0.0 if moved else self._still_s[task] + step_s
            self._cycles[task] = cycle
        self.frozen_s = max(self._still_s.values())
        if self.frozen_s < SHOWN_S:
            self.now.pop("cycle", None)
        elif not self.ends or stands_still(self._cycle):
            task = max(self._still_s, key=lambda name: self._still_s[name])
            self.now["cycle"] = f"no new cycle of {task} for {self.frozen_s:.1f} s"

    def _look_at_processes(self) -> None:
        roles = {"cycle": self._cycle, **{r: c.pid for r, c in self.children.items()}}
        for role, pid in roles.items():
            if stands_still(pid):
                words = f"the {_name(role)} is stopped (SIGSTOP, or a debugger)"
                self._alarm(f"{role} still", words)
            else:
                self.now.pop(f"{role} still", None)
        for task, ring in self._rings.items():
            counted = ring.counters()
            if counted["unwritten"]:
                why = errno_in_words(counted["unwritten_errno"])
                self._alarm(
                    f"{task} unwritten", f"the record of {task} cannot be written on: {why}"
                )
                self.now[f"{task} unwritten"] += f"; {counted['unwritten']} cycles so far"
            if counted["dropped"]:
                self._alarm(f"{task} dropped", f"the recorder is too slow for {task}")
                self.now[f"{task} dropped"] += f"; {counted['dropped']} cycles so far"

    def _look_at_threads(self) -> None:
        if self.ends:
            return
        seen = {thread.tid: (name, thread) for name, thread in loop_threads(self._cycle)}
        # of a process that has ended just now, all are gone; its exit reports that
        if not seen:
            return
        self._threads = seen | self._threads
        for tid, (name, was) in self._threads.items():
            key, whose = f"thread {tid}", self._whose(name)
            if tid not in seen:
                self._alarm(key, f"the thread of {whose} has ended")
                continue
            _, runs = seen[tid]
            if runs == was:
                self.now.pop(key, None)
                continue
            self.demoted = True
            words = f"the thread of {whose} runs under {runs.words()}, and was {was.words()}"
            self._alarm(key, words)

    def _whose(self, name: str) -> str:
        if name == WATCHDOG_THREAD:
            return "the loop's watchdog"
        tasks = [t for t in self._rig.tasks if f"{THREAD_PREFIX}{t}"[:NAME_LENGTH] == name]
        return f"task {' or '.join(tasks)}"

    def _look_at_files(self) -> None:
        lost = _identity(self._shared.path) != self._table_id and not self.ends
        # a loop that ends takes its table away shortly before it is gone
        self._table_missed = self._table_missed + 1 if lost and self.frozen_s < SHOWN_S else 0
        size = None if lost else _size(self._shared.path)
        if size is not None and size < self._shared.layout.total_bytes:
            # before anything has touched what is gone
            raise CutError(self._shared.path, size, self._shared.layout.total_bytes)
        if self._table_missed > 1:
            self._alarm("table", f"the signal table was taken away: {self._shared.path}")
        if _identity(self._folder) != self._folder_id:
            self._alarm("folder", f"the run folder was taken away: {self._folder}")
        elif not os.access(self._folder, os.W_OK):
            self._alarm("folder", f"the run folder can no longer be written: {self._folder}")
        else:
            self.now.pop("folder", None)
            self._look_at_room()

    def _look_at_room(self) -> None:
        self.now.pop("room", None)
        with contextlib.suppress(OSError):
            room = os.statvfs(self._folder)
            left = room.f_bavail * room.f_frsize
            if left < LITTLE_ROOM:
                self.now["room"] = f"{left >> 10} KiB left on the disk of the run folder"

    def _alarm(self, key: str, words: str) -> None:
        self.now[key] = words
        if key not in self.alarms:
            when = (
                "before it was armed"
                if self.armed_at is None
                else f"at {time.monotonic() - self.armed_at:.1f} s"
            )
            self.alarms[key] = f"{when}: {words}"


def _identity(path: str | Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _size(path: str) -> int | None:
    try:
        return os.stat(path).st_size
    except OSError:
        return None


def _name(role: str) -> str:
    return "cycle process" if role == "cycle" else role


def _how_it_ended(role: str, child: subprocess.Popen[str], folder: Path) -> str:
    code = child.poll()
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return f"the {role} was killed ({signal.Signals(-code).name})"
    said = ""
    with contextlib.suppress(OSError):
        lines = (folder / f"{role}.log").read_text(errors="replace").strip().splitlines()
        said = f": {lines[-1]}" if lines and code else ""
    return f"the {role} has ended before the loop{said}"

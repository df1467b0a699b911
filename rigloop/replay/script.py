"""Step a written-down sequence of cycles without a clock, piece by piece, into records."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress

from io_bridge.recording.record import RecordWriter
from rigloop.replay.written_beside import WrittenBeside
from rigloop.run_folder.not_started import NotStartedError
from rt_core.loop.offline import Offline
from rt_core.plan import Plan
from rt_core.steps import Steps

SHOWN_BYTES = 1_000_000_000  # of records, before they are written
CHUNK = 5_000  # fast cycles stepped at once; bounds the memory of a replay


@dataclass
class Pace:
    """Time that a replay took, in its cycles and with its records, and that of processors."""

    cycles_s: float = 0.0
    total_s: float = 0.0
    cpu_s: float = 0.0


def run_script(plan: Plan, script: Mapping[str, Steps], folder: Path, console: Console) -> Pace:
    """Step the cycles of some tasks piece by piece into one record a task.

    Raises
    ------
    NotStartedError
        The disk has too little room, or a cycle saw what no cycle here makes.
    """
    offline = Offline(plan)
    pace = Pace()
    need = 8 * sum(len(steps) * (1 + len(offline.paths(task))) for task, steps in script.items())
    if need > shutil.disk_usage(folder).free:
        raise NotStartedError(
            f"{folder}: the records need {need / 1e6:,.0f} MB, the disk has less; give --runs"
        )
    most = max(script, key=lambda task: len(script[task]))
    if need > SHOWN_BYTES:
        # the disk decides how long it takes, not the number of rows of a log
        console.print(
            f"{len(script[most])} cycles, every one recorded: {need / 1e9:.1f} GB in {folder}",
            highlight=False,
            markup=False,
        )
    begin, begin_cpu = time.perf_counter(), time.process_time()
    with contextlib.ExitStack() as opened:
        records = {
            task: opened.enter_context(RecordWriter(folder / f"{task}.npy", offline.paths(task)))
            for task in script
        }
        progress = opened.enter_context(Progress(console=console, transient=True))
        bar = progress.add_task("replay", total=len(script[most]))
        beside = opened.enter_context(WrittenBeside(records))
        for task, t_ns, _ in stepped(offline, script, pace, rooms=beside.room):
            beside.write(task, len(t_ns))
            if task == most:
                progress.advance(bar, len(t_ns))
    pace.total_s = time.perf_counter() - begin
    pace.cpu_s = time.process_time() - begin_cpu
    return pace


def stepped(
    offline: Offline,
    script: Mapping[str, Steps],
    pace: Pace,
    size: int = CHUNK,
    rooms: Callable[[Mapping[str, int]], Mapping[str, NDArray[np.float64]]] | None = None,
) -> Iterator[tuple[str, NDArray[np.int64], NDArray[np.float64]]]:
    """Step in pieces of about `size` cycles of the task that has most; yield the times and images of each piece.

    Parameters
    ----------
    rooms : callable, optional
        Called with the cycles of each task in the next piece, gives the rows that get them, as of `run_together`.

    Raises
    ------
    NotStartedError
        A cycle saw what no cycle here makes.
    """
    times = {task: np.ascontiguousarray(steps.t_ns, np.int64) for task, steps in script.items()}
    done = dict.fromkeys(script, 0)
    ahead = size
    while left := {task: len(t) - done[task] for task, t in times.items() if done[task] < len(t)}:
        first = max(left, key=lambda task: left[task])
        last = done[first] + ahead - 1
        is_rest = last >= len(times[first]) - 1
        until_ns = (
            times[first][last] if not is_rest else max(t[-1] for t in times.values() if len(t))
        )
        ends = {
            task: max(done[task], int(np.searchsorted(t, until_ns, side="right")))
            for task, t in times.items()
        }
        parts = {task: steps.part(done[task], ends[task]) for task, steps in script.items()}
        room = rooms({task: len(part) for task, part in parts.items()}) if rooms else None
        images = offline.run_together(parts, rows=room)
        pace.cycles_s += offline.wall_s
        for task, made in images.items():
            if len(made):
                yield task, times[task][done[task] : done[task] + len(made)], made
            done[task] += len(made)
        if any(len(made) for made in images.values()):
            ahead = size
        elif is_rest:
            task = next((t for t in left if _sees_too_much(script[t], done[t], times)), first)
            raise NotStartedError(
                f"cycle {done[task] + 1} of task {task} saw a cycle of another task that cannot have been there yet: "
                "the records do not belong to one run"
            )
        else:
            ahead *= 2  # what it waits for comes later than its time says


def _sees_too_much(steps: Steps, cycle: int, times: Mapping[str, NDArray[np.int64]]) -> bool:
    return any(np.asarray(seen)[cycle] > len(times[other]) for other, seen in steps.seen.items())


def rows(dtype: np.dtype, t_ns: NDArray[np.int64], images: NDArray[np.float64]) -> np.ndarray:
    """Return images as record rows: the time, then one cell a field, without a copy of each column."""
    table = np.empty((len(t_ns), 1 + images.shape[1]))
    table[:, 0] = np.ascontiguousarray(t_ns, np.int64).view(np.float64)
    table[:, 1:] = images
    return table.view(dtype).reshape(len(t_ns))

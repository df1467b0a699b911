"""Step a written-down sequence of cycles without a clock, piece by piece, into records."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress

from io_bridge.recording.record import RecordWriter
from rigloop.console.errors import NotStartedError
from rt_core.loop.offline import Offline
from rt_core.plan import Plan

SHOWN_BYTES = 1_000_000_000  # of records, before they are written
CHUNK = 5_000  # fast cycles stepped at once; bounds the memory of a replay


@dataclass(frozen=True)
class Script:
    """The script of a replay: times of the cycles of both tasks, what each saw, and the cells that are given.

    Attributes
    ----------
    t_ns, slow_t_ns : ndarray of int64, shapes (n,) and (m,)
        Nominal times.
    after, visible : ndarray of int64, shape (m,)
        Fast cycles done when a slow cycle takes its inputs, and when its result can be seen.
    forced, slow_forced : mapping of path to ndarray, shapes (n,) and (m,)
    """

    fast: str
    slow: str | None
    """None: one task."""
    t_ns: NDArray[np.int64]
    slow_t_ns: NDArray[np.int64]
    after: NDArray[np.int64]
    visible: NDArray[np.int64]
    forced: Mapping[str, NDArray[np.float64]]
    slow_forced: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)


@dataclass
class Pace:
    """Time that a replay took, in its cycles and with its records."""

    cycles_s: float = 0.0
    total_s: float = 0.0


def run_script(plan: Plan, script: Script, folder: Path, console: Console) -> Pace:
    """Step a script piece by piece into one record a task."""
    offline = Offline(plan)
    pace = Pace()
    n = len(script.t_ns)
    need = 8 * sum(
        len(times) * (1 + len(offline.paths(task)))
        for task, times in ((script.fast, script.t_ns), (script.slow, script.slow_t_ns))
        if task is not None
    )
    if need > shutil.disk_usage(folder).free:
        raise NotStartedError(
            f"{folder}: the records need {need / 1e6:,.0f} MB, the disk has less; give --runs"
        )
    if need > SHOWN_BYTES:
        # the disk decides how long it takes, not the number of rows of a log
        console.print(
            f"{n} cycles, every one recorded: {need / 1e9:.1f} GB in {folder}",
            highlight=False,
            markup=False,
        )
    begin = time.perf_counter()
    with (
        RecordWriter(folder / f"{script.fast}.npy", offline.paths(script.fast)) as fast_record,
        _writer(folder, offline, script.slow) as slow_record,
        Progress(console=console, transient=True) as progress,
    ):
        bar = progress.add_task("replay", total=n)
        for a, b, i, j in pieces(script, CHUNK):
            images = offline.run(
                script.fast,
                script.t_ns[a:b],
                forced={path: column[a:b] for path, column in script.forced.items()},
                slow=script.slow,
                slow_t_ns=script.slow_t_ns[i:j],
                slow_after=script.after[i:j] - a,
                slow_visible=np.minimum(script.visible[i:j], b) - a,
                slow_forced={path: column[i:j] for path, column in script.slow_forced.items()},
            )
            pace.cycles_s += offline.wall_s
            fast_record.append(rows(fast_record.dtype, script.t_ns[a:b], images[script.fast]))
            if slow_record is not None and script.slow is not None:
                times = script.slow_t_ns[i:j]
                slow_record.append(rows(slow_record.dtype, times, images[script.slow]))
            progress.update(bar, completed=b)
    pace.total_s = time.perf_counter() - begin
    return pace


def _writer(
    folder: Path, offline: Offline, task: str | None
) -> contextlib.AbstractContextManager[RecordWriter | None]:
    if task is None:
        return contextlib.nullcontext()
    return RecordWriter(folder / f"{task}.npy", offline.paths(task))


def pieces(script: Script, size: int) -> Iterator[tuple[int, int, int, int]]:
    """Cut a script where no slow cycle is under way: fast cycles a to b, slow cycles i to j."""
    n, a, i = len(script.t_ns), 0, 0
    while a < n:
        b = min(a + size, n)
        j = int(np.searchsorted(script.after, b, side="right"))
        # a slow cycle that began before b but shows after it: cut before it began
        while b < n and j > i and script.visible[j - 1] > b:
            b = int(script.after[j - 1]) - 1
            j -= 1
        yield a, b, i, j
        a, i = b, j


def rows(dtype: np.dtype, t_ns: NDArray[np.int64], images: NDArray[np.float64]) -> np.ndarray:
    """Return images as record rows: the time, then one cell a field, without a copy of each column."""
    table = np.empty((len(t_ns), 1 + images.shape[1]))
    table[:, 0] = np.ascontiguousarray(t_ns, np.int64).view(np.float64)
    table[:, 1:] = images
    return table.view(dtype).reshape(len(t_ns))

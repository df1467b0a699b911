"""Replay: the same blocks, without a clock. A log goes through the filter and the kernel; a recorded run through
the guard too, and has to give the same bits."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress

from io_bridge.log_reader import EncoderLog, read_log
from io_bridge.log_schedule import schedule
from io_bridge.record import RecordWriter, open_record
from rig_configs import schema
from rig_configs.load import LoadedRig
from rig_configs.log_schema import load_mapping
from rigloop.compose import make_blocks, plan_blocks
from rigloop.kernels import build_kernels
from rigloop.manifest import ManifestError, read_manifest
from rigloop.outcome import NotStartedError, Outcome
from rigloop.replay_verdict import conclude_log, conclude_run
from rigloop.runs import new_run_folder
from rigloop.wiring import load
from rt_core.block import Block
from rt_core.offline import Offline
from rt_core.plan import Plan

CHUNK = 5_000  # fast cycles stepped at once; bounds the memory of a replay


@dataclass(frozen=True)
class Script:
    """What a replay does: times of the cycles of both tasks, what each saw, and the cells that are given.

    Attributes
    ----------
    t_ns, slow_t_ns : ndarray of int64, shapes (n,) and (m,)
        Nominal times.
    after, visible : ndarray of int64, shape (m,)
        Fast cycles done when a slow cycle takes its inputs, and when its result can be seen.
    forced, slow_forced : mapping of path to ndarray, shapes (n,) and (m,)
    """

    fast: str
    slow: str
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


def replay_log(
    path: Path, loaded: LoadedRig, *, mapping: Path | None, runs: Path, console: Console
) -> Outcome:
    """Feed a logged encoder file through the filter and the kernel of a rig.

    Raises
    ------
    LogError, MappingError
        The file, or its mapping, cannot be read; one line.
    """
    log = read_log(path, load_mapping(mapping) if mapping else None)
    rig = loaded.rig
    kernels = build_kernels(loaded)
    fast, slow = fast_and_slow(rig)
    fast_ns, slow_ns = (rig.tasks[task].period_us * 1000 for task in (fast, slow))
    ticks = schedule(log, fast_ns * 1e-9)
    n, every = len(ticks.valid), slow_ns // fast_ns
    slow_at = np.arange(0, n, every)

    blocks = make_blocks(rig, kernels, **filter_settings(log, rig))
    blocks = {name: b for name, b in blocks.items() if rig.blocks[name].kind != "guard"}
    encoder = the_filter(rig, blocks)
    forced = {
        encoder.reads["position_count"]: ticks.position_count,
        encoder.reads["valid"]: ticks.valid,
    }
    measured = {f"log/{name}": values[ticks.sample] for name, values in log.torque.items()}
    plan = plan_blocks(rig, blocks, [*forced, *measured])
    script = Script(
        fast,
        slow,
        t_ns=np.arange(n) * fast_ns,
        slow_t_ns=slow_at * fast_ns,
        after=slow_at + 1,
        visible=slow_at + 1,
        forced=forced | measured,
    )
    folder = new_folder(runs, f"replay-{path.stem}", loaded)
    pace = run_script(plan, script, folder, console)
    return conclude_log(folder, loaded, kernels, log, ticks.superseded, list(measured), pace)


def replay_run(run: Path, *, runs: Path, console: Console) -> Outcome:
    """Step a recorded live run again and compare every signal of its blocks bit for bit.

    Raises
    ------
    ManifestError
        The folder holds no live run with whole records.
    """
    manifest = read_manifest(run)
    if manifest.kind != "live":
        raise ManifestError(
            f"{run}: a {manifest.kind}, only a live run can be replayed bit for bit"
        )
    loaded = load(str(run / "rig.toml"))
    rig = loaded.rig
    kernels = build_kernels(loaded)
    fast, slow = fast_and_slow(rig)
    records = {task: open_record(run / manifest.tasks[task].record) for task in (fast, slow)}
    for task, record in records.items():
        check_gapless(run, task, record)

    blocks = make_blocks(rig, kernels)
    written = {path for block in blocks.values() for path in block.writes.values()}
    given = {
        task: sorted(
            {
                path
                for name in rig.tasks[task].blocks
                if name in blocks
                for path in blocks[name].reads.values()
            }
            - written
        )
        for task in (fast, slow)
    }
    outside = [p for p in given[fast] if not p.startswith(("loop/", "supervisor/"))]
    plan = plan_blocks(rig, blocks, outside)
    seen = records[fast][f"loop/{slow}/cycle"]
    m = len(records[slow])
    script = Script(
        fast,
        slow,
        t_ns=records[fast]["t_ns"],
        slow_t_ns=records[slow]["t_ns"],
        after=records[slow][f"loop/{fast}/cycle"].astype(np.int64),
        # the first fast cycle that saw slow cycle k, or the end
        visible=np.searchsorted(seen, np.arange(1, m + 1), side="left"),
        forced={path: records[fast][path] for path in given[fast]},
        slow_forced={path: records[slow][path] for path in given[slow]},
    )
    folder = new_folder(runs, f"replay-{run.name}", loaded)
    pace = run_script(plan, script, folder, console)
    again = {task: open_record(folder / f"{task}.npy") for task in (fast, slow)}
    return conclude_run(folder, loaded, kernels, run, manifest, records, again, written, pace)


def fast_and_slow(rig: schema.Rig) -> tuple[str, str]:
    """Return the names of the two tasks, the faster one first."""
    if len(rig.tasks) != 2:
        raise NotStartedError(f"a replay steps two tasks, this rig has {len(rig.tasks)}")
    fast, slow = sorted(rig.tasks, key=lambda name: rig.tasks[name].period_us)
    return fast, slow


def the_filter(rig: schema.Rig, blocks: Mapping[str, Block]) -> Block:
    """Return the one encoder filter that a log can feed."""
    filters = [name for name, block in rig.blocks.items() if block.kind == "encoder_filter"]
    if len(filters) != 1:
        raise NotStartedError(f"a log feeds one encoder filter, this rig has {len(filters)}")
    return blocks[filters[0]]


def filter_settings(log: EncoderLog, rig: schema.Rig) -> dict[str, float]:
    """Return what a log knows better than the rig: scale of its encoder, rate of its samples."""
    angle = log.mapping.angle
    rig_bandwidth = next(
        block.bandwidth_rad_s for block in rig.blocks.values() if block.kind == "encoder_filter"
    )
    return {
        "counts_per_rev": float(angle.counts_per_rev),
        "counter_span": float(angle.counter_span),
        "zero_count": float(angle.zero_count),
        "sign": angle.sign,
        "sample_period_s": log.sample_period_s,
        "bandwidth_rad_s": log.bandwidth_rad_s(rig_bandwidth),
    }


def check_gapless(run: Path, task: str, record: np.ndarray) -> None:
    """Refuse a record with missing cycles: what they saw is not known."""
    cycle = record[f"loop/{task}/cycle"]
    if not len(cycle) or cycle[0] != 1 or np.any(np.diff(cycle) != 1):
        at = (
            0
            if not len(cycle) or cycle[0] != 1
            else int(np.flatnonzero(np.diff(cycle) != 1)[0]) + 1
        )
        raise ManifestError(
            f"{run}: the record of {task} lacks cycles before row {at}; only a whole record can be replayed"
        )


def new_folder(runs: Path, name: str, loaded: LoadedRig) -> Path:
    """Make the run folder of a replay, with the rig in it."""
    try:
        folder = new_run_folder(runs, name)
    except OSError as error:
        raise NotStartedError(
            f"{runs}: no run folder can be made: {error.strerror}; give --runs"
        ) from None
    (folder / "rig.toml").write_text(loaded.text, encoding="utf-8")
    return folder


def run_script(plan: Plan, script: Script, folder: Path, console: Console) -> Pace:
    """Step a script piece by piece into one record a task."""
    offline = Offline(plan)
    pace = Pace()
    n = len(script.t_ns)
    tasks = (script.fast, script.slow)
    need = 8 * sum(
        len(times) * (1 + len(offline.paths(task)))
        for task, times in zip(tasks, (script.t_ns, script.slow_t_ns), strict=True)
    )
    if need > shutil.disk_usage(folder).free:
        raise NotStartedError(
            f"{folder}: the records need {need / 1e9:.1f} GB, the disk has less; give --runs"
        )
    begin = time.perf_counter()
    with (
        RecordWriter(folder / f"{script.fast}.npy", offline.paths(script.fast)) as fast_record,
        RecordWriter(folder / f"{script.slow}.npy", offline.paths(script.slow)) as slow_record,
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
            slow_record.append(rows(slow_record.dtype, script.slow_t_ns[i:j], images[script.slow]))
            progress.update(bar, completed=b)
    pace.total_s = time.perf_counter() - begin
    return pace


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

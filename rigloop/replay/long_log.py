"""A log of any length through filter and kernel in bounded memory: a summary, and of the cycles none or some kept."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import chain
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress

from io_bridge.logs.parts import LogParts
from io_bridge.logs.reader import kinds_of
from io_bridge.logs.schedule import TickPart, Ticks
from io_bridge.recording.record import RecordWriter
from rig_configs.load import LoadedRig
from rig_configs.log_schema import load_mapping
from rig_configs.schema import Rig
from rigloop.compose.kernels import build_kernels
from rigloop.compose.shown import shown_roles
from rigloop.judge.metrics import gauges, metrics_of
from rigloop.logs.verdict import against
from rigloop.replay.judged_parts import SignalFigures, Totals, Watched
from rigloop.replay.records_again import seen_tasks
from rigloop.replay.replay import LogPlan, log_plan, new_folder
from rigloop.replay.script import CHUNK, Pace, rows
from rigloop.replay.verdict import Findings, Replayed, keep_manifest, speed_rows
from rigloop.run_folder.manifest import DataFault, Named, Replay, sha256_of
from rigloop.run_folder.outcome import Outcome
from rt_core.loop.offline import Offline
from rt_core.steps import Steps

SUMMARY = "summary.json"
MOST_TICKS = 2_000_000_000


def replay_long_log(
    path: Path,
    loaded: LoadedRig,
    *,
    mapping: Path | None,
    runs: Path,
    console: Console,
    every: int = 0,
) -> Outcome:
    """Feed a log part by part, and keep figures of every signal in `summary.json`.

    Parameters
    ----------
    every : int
        One of `every` cycles of each task is recorded; 0: none, the records are empty.

    Raises
    ------
    LogError, MappingError
        The file, or its mapping, cannot be read.
    """
    begin = time.perf_counter()
    parts = LogParts(path, load_mapping(mapping) if mapping else None)
    coming = iter(parts)
    first = next(coming)
    kernels = build_kernels(loaded)
    made = log_plan(parts, loaded.rig, kernels, [*first.torque])
    folder = new_folder(runs, f"replay-{path.stem}", loaded)
    pace = Pace()
    with contextlib.ExitStack() as opened:
        run = _Run(loaded.rig, made, folder, every, opened)
        progress = opened.enter_context(Progress(console=console, transient=True))
        bar = progress.add_task("replay", total=None)
        ticks = Ticks(made.tick_s, CHUNK)
        for part in chain((first,), coming):
            run.take(ticks.take(part), pace)
            progress.update(bar, description=f"replay: {parts.duration_s:.0f} s of the log")
        run.take(ticks.rest(), pace)
    run.watched.end_at(parts.duration_s, is_end=True)
    pace.total_s = time.perf_counter() - begin
    figures = run.figures()
    (folder / SUMMARY).write_bytes(msgspec.json.format(msgspec.json.encode(figures)))
    faults = [*kinds_of(parts.findings), *parts.torque_faults]
    faults.sort(key=lambda fault: fault.first_row)
    bad = [*run.watched.reasons(), *against(parts.findings, parts.n_rows, parts.sample_period_s)]
    if parts.untold:
        bad.append(f"{parts.untold} more faults than the {len(parts.findings)} that are listed")
    notes = [f"{len(faults)} kinds of faults in the log, handled as listed"] if faults else []
    notes += run.watched.amber
    replay = Replay(
        log=Named(path.name, sha256_of(path)),
        mapping=parts.mapping.name,
        rows=parts.n_rows,
        speed=parts.duration_s / pace.total_s,
        superseded=ticks.superseded,
    )
    kinds = tuple(DataFault(**asdict(fault)) for fault in faults)
    manifest = keep_manifest(
        Replayed(folder, loaded, kernels, pace, page=False),
        run.cycles,
        Findings(bad, notes, parts.duration_s, {}, kinds),
        replay,
    )
    told = [f"{f.kind}: {f.count}, first at row {f.first_row}: {f.words}" for f in faults]
    kept = f"one of {every} recorded" if every else "none recorded"
    shown = [
        ("log", path.name, f"{parts.n_rows} rows, {parts.duration_s:.2f} s"),
        *((f"{task} cycles", f"{n}", kept) for task, n in run.cycles.items()),
        *_shown(loaded.rig, figures.signals),
        *((name, f"{value:.6g}", "metric") for name, value in figures.metrics.items()),
        *speed_rows(parts.duration_s, pace, f"with {SUMMARY}, {kept}"),
    ]
    return Outcome(not bad, [*manifest.reasons], str(folder), shown, told)


class Summary(msgspec.Struct, frozen=True):
    """The figures that are kept of a replay without records."""

    signals: dict[str, SignalFigures]
    metrics: dict[str, float]


class _Run:
    # the blocks stepped over the ticks as they come, with what is measured and kept of them
    def __init__(
        self, rig: Rig, made: LogPlan, folder: Path, every: int, opened: contextlib.ExitStack
    ) -> None:
        self._rig, self._made, self._every = rig, made, every
        self._offline = Offline(made.plan)
        cells = {task: tuple(self._offline.paths(task)) for task in made.by_period}
        self.watched = Watched(rig, cells)
        self.cycles = dict.fromkeys(made.by_period, 0)
        self._totals = {}
        for task, names in cells.items():
            signals = set(made.plan.producer(task).signals)
            # without a clock the loop's own signals say nothing
            own = [p for p in names if p in signals and not p.startswith("loop/")]
            self._totals[task] = Totals(tuple(own), [names.index(path) for path in own])
        self._gauges = gauges(metrics_of(rig))
        self._measured = {
            task: [
                (gauge, cells[task].index(gauge.metric.signal))
                for gauge in self._gauges.values()
                if gauge.metric.signal in totals.names
            ]
            for task, totals in self._totals.items()
        }
        self._records = {
            task: opened.enter_context(RecordWriter(folder / f"{task}.npy", names))
            for task, names in cells.items()
        }

    def take(self, pieces: Iterator[TickPart], pace: Pace) -> None:
        """Step the cycles of some ticks."""
        for piece in pieces:
            script = _steps(self._rig, self._made, piece)
            images = self._offline.run_together(script)
            pace.cycles_s += self._offline.wall_s
            for task, made in images.items():
                if len(made):
                    self._keep(task, np.asarray(script[task].t_ns), made)
            self.watched.end_at((piece.first + len(piece.valid)) * self._made.tick_s)

    def _keep(self, task: str, t_ns: NDArray[np.int64], images: NDArray[np.float64]) -> None:
        self._totals[task].take(images)
        for gauge, column in self._measured[task]:
            gauge.take(t_ns, images[:, column])
        self.watched.take(task, t_ns, images)
        if self._every:
            which = slice(-self.cycles[task] % self._every, None, self._every)
            record = self._records[task]
            record.append(rows(record.dtype, t_ns[which], images[which]))
        self.cycles[task] += len(t_ns)

    def figures(self) -> Summary:
        """Return figures of every signal, and the metrics of the rig."""
        signals: dict[str, SignalFigures] = {}
        for totals in self._totals.values():
            signals |= totals.figures()
        return Summary(signals, {name: gauge.value() for name, gauge in self._gauges.items()})


def _steps(rig: Rig, made: LogPlan, piece: TickPart) -> dict[str, Steps]:
    # each cycle at its time and done at once, of one time the fastest task's first
    fast = made.by_period[0]
    period_ns = {task: rig.tasks[task].period_us * 1000 for task in made.by_period}
    begin_ns = piece.first * period_ns[fast]
    end_ns = begin_ns + len(piece.valid) * period_ns[fast]
    forced = made.forced(piece.position_count, piece.valid)
    forced |= {f"log/{name}": values for name, values in piece.torque.items()}
    script = {}
    for place, task in enumerate(made.by_period):
        period = period_ns[task]
        times = np.arange(-(-begin_ns // period) * period, end_ns, period, dtype=np.int64)
        seen = {}
        for other in seen_tasks(made.plan, task):
            is_before = made.by_period.index(other) < place
            # cycles of the other up to this time, or before it
            seen[other] = (times + (0 if is_before else -1)) // period_ns[other] + 1
        script[task] = Steps(times, seen, forced if task == fast else {})
    return script


def _shown(rig: Rig, signals: Mapping[str, SignalFigures]) -> list[tuple[str, str, str]]:
    return [
        (
            path,
            f"{signals[path].least:.4g} … {signals[path].largest:.4g}",
            f"rms {signals[path].rms:.4g}",
        )
        for path in dict.fromkeys(shown_roles(rig).values())
        if path in signals
    ]

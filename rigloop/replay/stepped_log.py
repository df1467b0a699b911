"""The cycles of a long log, stepped part by part: figures of all signals, some records, and a place to go on from."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from io_bridge.logs.parts import LogPart
from io_bridge.logs.schedule import TickPart, Ticks
from io_bridge.recording.record import RecordError, RecordWriter
from rig_configs.schema import Rig
from rigloop.blocks.catalogue import kind_of
from rigloop.judge.metrics import gauges, metrics_of
from rigloop.replay.judged_parts import SignalFigures, Totals, Watched
from rigloop.replay.records_again import seen_tasks
from rigloop.replay.replay import LogPlan
from rigloop.replay.script import CHUNK, Pace, rows
from rigloop.run_folder.manifest import ManifestError
from rt_core.loop.offline import Offline
from rt_core.steps import Steps


class Summary(msgspec.Struct, frozen=True):
    """The figures that are kept of a replay without records."""

    signals: dict[str, SignalFigures]
    metrics: dict[str, float]


class SteppedLog:
    """The blocks of a rig stepped over the ticks of a log as they come, with what is measured and kept of them.

    Parameters
    ----------
    folder : Path
        Gets the records.
    every : int
        One of `every` cycles of each task is recorded; 0: none.
    opened : ExitStack
        Closes the records.
    place : dict, optional
        What is gone on from; the records are there.

    Attributes
    ----------
    watched : Watched
    cycles : dict of str to int
        Stepped cycles by task.
    pace : Pace
        Of all processes that stepped this log.
    placeless : list of str
        Blocks that cannot go on in another process.
    seen : bytes
        Hash of the images of the first piece since `look_at_next` was set.

    Raises
    ------
    ManifestError
        The place is of other blocks, or the records end before it.
    """

    def __init__(
        self,
        rig: Rig,
        made: LogPlan,
        folder: Path,
        every: int,
        opened: contextlib.ExitStack,
        place: Mapping[str, Any] | None = None,
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
            task: opened.enter_context(
                RecordWriter(folder / f"{task}.npy", names, resume=place is not None)
            )
            for task, names in cells.items()
        }
        self.ticks = Ticks(made.tick_s, CHUNK)
        self.pace = Pace()
        self.look_at_next, self.seen = False, b""
        self.placeless = [
            block.name
            for task in made.plan.tasks
            for block in task.blocks
            if not kind_of(rig.blocks[block.name]).has_place(block)
        ]
        if place is not None:
            self._put_back(folder, place)

    @property
    def place(self) -> dict[str, Any]:
        """Return what another process goes on from, as plain data and arrays."""
        return {
            "blocks": self._offline.place,
            "cycles": dict(self.cycles),
            "totals": {task: totals.place for task, totals in self._totals.items()},
            "gauges": {name: gauge.place for name, gauge in self._gauges.items()},
            "watched": self.watched.place,
            "rows": {task: record.n_rows for task, record in self._records.items()},
            "ticks": self.ticks.place,
            "cycles_s": self.pace.cycles_s,
        }

    def _put_back(self, folder: Path, place: Mapping[str, Any]) -> None:
        try:
            self._offline.put_back(place["blocks"])
            for task, record in self._records.items():
                record.cut(place["rows"][task])
        except (ValueError, RecordError) as error:
            raise ManifestError(
                f"{folder}: cannot resume from its saved position: {error}; replay the log again"
            ) from None
        self.cycles |= place["cycles"]
        for task, totals in self._totals.items():
            totals.put_back(place["totals"][task])
        for name, gauge in self._gauges.items():
            gauge.put_back(place["gauges"][name])
        self.watched.put_back(place["watched"])
        self.ticks.put_back(place["ticks"])
        self.pace.cycles_s = place["cycles_s"]

    def take(self, part: LogPart | None) -> None:
        """Step the cycles of a part of the log; of none: the last one."""
        for piece in self.ticks.take(part) if part else self.ticks.rest():
            script = _steps(self._rig, self._made, piece)
            images = self._offline.run_together(script)
            self.pace.cycles_s += self._offline.wall_s
            if self.look_at_next:
                self.look_at_next = False
                self.seen = _hash_of(images)
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


def _hash_of(images: Mapping[str, NDArray[np.float64]]) -> bytes:
    made = hashlib.blake2b(digest_size=16)
    for task in sorted(images):
        made.update(np.ascontiguousarray(images[task]).data)
    return made.digest()

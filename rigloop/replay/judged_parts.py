"""A long replay judged while it goes on: figures of every signal, and its filters and models stretch by stretch.

Nothing is kept but a few numbers a signal, and of one stretch the signals that a verdict looks at.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from rig_configs.schema import Rig
from rigloop.blocks.kinds.mechanism import MechanismBlock
from rigloop.compose.blocks import paths
from rigloop.judge.trust import distrust
from rigloop.replay.sums import add_rows
from rigloop.report.status_words import in_words

Array = NDArray[np.float64]
Times = NDArray[np.int64]

STRETCH_S = 40.0
MOST_TOLD = 5  # stretches whose reasons are listed
COUNTERS = ("rejected", "jumps", "covariance_resets")  # that go on from stretch to stretch
OF_FILTERS = ("encoder_filter", "observer", "two_stage_observer")

FIGURES = ("_n", "_figures", "_last")
VERDICT = ("red", "amber", "_until_s", "_failed", "_stepped", "_bad_stretches")


class SignalFigures(msgspec.Struct, frozen=True):
    """Figures of a signal over all of its cycles; NaN (null in JSON) where one of them was."""

    cycles: int
    least: float
    largest: float
    mean: float
    rms: float
    last: float


class Totals:
    """Figures of some signals, from images as they come."""

    def __init__(self, names: tuple[str, ...], columns: list[int]) -> None:
        n = len(names)
        # neighbours, as the signals of a task are, need no copy
        is_one = columns == [*range(columns[0], columns[0] + n)] if n else False
        self._columns = None if is_one else columns
        self._first = columns[0] if is_one else 0
        self.names = names
        self._n = 0
        self._figures = np.zeros((5, n))
        self._figures[2], self._figures[3] = np.inf, -np.inf
        self._last = np.full(n, np.nan)

    def take(self, images: Array) -> None:
        """Take the images of the next cycles."""
        if self._columns is not None:
            images = np.ascontiguousarray(images[:, self._columns])
        self._n += len(images)
        add_rows(images, self._first, self._figures)
        self._last = images[-1, self._first : self._first + len(self.names)].copy()

    @property
    def place(self) -> dict[str, Any]:
        """Return what the figures go on from."""
        return {name: getattr(self, name) for name in FIGURES}

    def put_back(self, place: Mapping[str, Any]) -> None:
        """Go on from a place."""
        vars(self).update(place)

    def figures(self) -> dict[str, SignalFigures]:
        """Return the figures by signal."""
        n = max(1, self._n)
        sums, squares, least, largest, unordered = self._figures
        with np.errstate(over="ignore", invalid="ignore"):
            mean, rms = sums / n, np.sqrt(squares / n)
        least, largest = (np.where(unordered > 0, np.nan, some) for some in (least, largest))
        return {
            name: SignalFigures(
                self._n,
                float(least[k]),
                float(largest[k]),
                float(mean[k]),
                float(rms[k]),
                float(self._last[k]),
            )
            for k, name in enumerate(self.names)
        }


class Watched:
    """The signals by which blocks are judged, kept for a stretch and then judged as a whole replay is."""

    def __init__(self, rig: Rig, cells: Mapping[str, tuple[str, ...]]) -> None:
        self._rig = rig
        wanted = _wanted(rig)
        self._columns = {
            task: {path: k for k, path in enumerate(names) if path in wanted}
            for task, names in cells.items()
        }
        self._statuses = {
            task: [(p, k) for p, k in columns.items() if p in _statuses(rig)]
            for task, columns in self._columns.items()
        }
        # rows of a record, as they come: time and watched cells
        self._held = {
            task: np.empty((0, 1 + len(columns))) for task, columns in self._columns.items()
        }
        self._rows = dict.fromkeys(cells, 0)
        self._pieces = {
            task: _neighbours([*columns.values()]) for task, columns in self._columns.items()
        }
        self._before: dict[tuple[str, str], float] = {}
        self._until_s = STRETCH_S
        self._failed: dict[str, tuple[int, int, float]] = {}
        self._stepped = dict.fromkeys(cells, 0)
        self.red: list[str] = []
        self.amber: list[str] = []
        self._bad_stretches = 0

    def take(self, task: str, t_ns: Times, images: Array) -> None:
        """Take the images of the next cycles of a task."""
        for path, column in self._statuses[task]:
            failed = np.flatnonzero(images[:, column] != 0.0)
            if len(failed):
                first = (
                    len(failed),
                    self._stepped[task] + int(failed[0]),
                    images[failed[0], column],
                )
                before, row, status = self._failed.get(path, (0, *first[1:]))
                self._failed[path] = (before + len(failed), row, float(status))
        self._stepped[task] += len(t_ns)
        begin, end = self._rows[task], self._rows[task] + len(t_ns)
        if end > len(self._held[task]):
            more = np.empty((max(2 * begin, end), self._held[task].shape[1]))
            more[:begin] = self._held[task][:begin]
            self._held[task] = more
        table, self._rows[task] = self._held[task], end
        table[begin:end, 0] = np.ascontiguousarray(t_ns, np.int64).view(np.float64)
        for place, column, width in self._pieces[task]:
            table[begin:end, place : place + width] = images[:, column : column + width]

    def end_at(self, t_s: float, *, is_end: bool = False) -> None:
        """Judge the stretch, if it is as long as one."""
        if t_s < self._until_s and not is_end:
            return
        records = {task: self._record(task) for task in self._held}
        found = distrust(self._rig, records, is_live=False)
        begin_s = self._until_s - STRETCH_S
        self._until_s += STRETCH_S
        where = f"{begin_s:.0f} to {min(t_s, begin_s + STRETCH_S):.0f} s: "
        if found.red:
            self._bad_stretches += 1
            if self._bad_stretches <= MOST_TOLD:
                self.red += [where + words for words in found.red]
        if len(self.amber) < MOST_TOLD:
            self.amber += [where + words for words in found.amber]

    @property
    def place(self) -> dict[str, Any]:
        """Return what the verdict goes on from."""
        kept = {name: getattr(self, name) for name in VERDICT}
        return kept | {
            "before": [[*key, value] for key, value in self._before.items()],
            "held": {task: table[: self._rows[task]] for task, table in self._held.items()},
        }

    def put_back(self, place: Mapping[str, Any]) -> None:
        """Go on from a place."""
        vars(self).update({name: place[name] for name in VERDICT})
        self._before = {(task, name): value for task, name, value in place["before"]}
        self._failed = {path: (n, row, status) for path, (n, row, status) in self._failed.items()}
        self._held = dict(place["held"])
        self._rows = {task: len(table) for task, table in self._held.items()}

    def reasons(self) -> list[str]:
        """Return what is bad: blocks that failed, and stretches whose filters followed no wheel."""
        failed = [
            f"{path} = {in_words(int(status))} in {n} cycles, first at row {row}"
            for path, (n, row, status) in self._failed.items()
        ]
        more = self._bad_stretches - MOST_TOLD
        told = [f"{more} more stretches of {STRETCH_S:g} s are bad"] if more > 0 else []
        return [*failed, *self.red, *told]

    def _record(self, task: str) -> np.ndarray:
        # as records are, of the watched signals alone; counters begin at zero
        names = [*self._columns[task]]
        n, self._rows[task] = self._rows[task], 0
        fields = [("t_ns", "<i8"), *((name, "<f8") for name in names)]
        rows = self._held[task][:n].view(fields).reshape(n)
        for name in names if n else []:
            if name.rpartition("/")[2] in COUNTERS:
                last = float(rows[name][-1])
                rows[name] -= self._before.get((task, name), 0.0)
                self._before[task, name] = last
        return rows


def _neighbours(columns: list[int]) -> list[tuple[int, int, int]]:
    # of a table whose first column is the time: place there, column of the images, and how many side by side
    found: list[tuple[int, int, int]] = []
    for place, column in enumerate(columns, start=1):
        if found and sum(found[-1][1:]) == column:
            found[-1] = (*found[-1][:2], found[-1][2] + 1)
        else:
            found.append((place, column, 1))
    return found


def _statuses(rig: Rig) -> set[str]:
    kinds = ("mechanism", "observer")
    return {paths(n, b)[1]["status"] for n, b in rig.blocks.items() if b.kind in kinds}


def _wanted(rig: Rig) -> set[str]:
    found = _statuses(rig)
    for name, block in rig.blocks.items():
        reads, writes = paths(name, block)
        if block.kind in OF_FILTERS:
            found |= {*writes.values(), *([reads["valid"]] if "valid" in reads else [])}
        elif isinstance(block, MechanismBlock):
            # few ports of a model say whether it gained energy; which ones, its file says
            found |= {path for path in writes.values() if path.endswith("_j")}
    return found

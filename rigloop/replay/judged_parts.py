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

Array = NDArray[np.float64]
Times = NDArray[np.int64]

STRETCH_S = 40.0
MOST_TOLD = 5  # stretches whose reasons are listed
COUNTERS = ("rejected", "jumps", "covariance_resets")  # that go on from stretch to stretch
OF_FILTERS = ("encoder_filter", "observer", "two_stage_observer")

FIGURES = ("_n", "_sum", "_squares", "_last", "_least", "_largest")
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
        self._columns = slice(columns[0], columns[0] + n) if is_one else columns
        self.names = names
        self._n = 0
        self._sum, self._squares, self._last = np.zeros(n), np.zeros(n), np.full(n, np.nan)
        self._least, self._largest = np.full(n, np.inf), np.full(n, -np.inf)

    def take(self, images: Array) -> None:
        """Take the images of the next cycles."""
        values = images[:, self._columns]
        self._n += len(values)
        with np.errstate(over="ignore", invalid="ignore"):
            self._sum += values.sum(axis=0)
            self._squares += np.einsum("ij,ij->j", values, values)
        np.minimum(self._least, values.min(axis=0), out=self._least)
        np.maximum(self._largest, values.max(axis=0), out=self._largest)
        self._last = values[-1].copy()

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
        with np.errstate(over="ignore", invalid="ignore"):
            mean, rms = self._sum / n, np.sqrt(self._squares / n)
        return {
            name: SignalFigures(
                self._n,
                float(self._least[k]),
                float(self._largest[k]),
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
        self._held: dict[str, list[tuple[Times, Array]]] = {task: [] for task in cells}
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
                n, row, status = self._failed.get(path, (0, *first[1:]))
                self._failed[path] = (n + len(failed), row, float(status))
        self._stepped[task] += len(t_ns)
        columns = [*self._columns[task].values()]
        self._held[task].append((t_ns, images[:, columns]))

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
            "held": {task: [[*one] for one in pieces] for task, pieces in self._held.items()},
        }

    def put_back(self, place: Mapping[str, Any]) -> None:
        """Go on from a place."""
        vars(self).update({name: place[name] for name in VERDICT})
        self._before = {(task, name): value for task, name, value in place["before"]}
        self._failed = {path: (n, row, status) for path, (n, row, status) in self._failed.items()}
        self._held = {
            task: [(t_ns, values) for t_ns, values in pieces]
            for task, pieces in place["held"].items()
        }

    def reasons(self) -> list[str]:
        """Return what is bad: blocks that failed, and stretches whose filters followed no wheel."""
        failed = [
            f"{path} = {status:.0f} in {n} cycles, first at row {row}"
            for path, (n, row, status) in self._failed.items()
        ]
        more = self._bad_stretches - MOST_TOLD
        told = [f"{more} more stretches of {STRETCH_S:g} s are bad"] if more > 0 else []
        return [*failed, *self.red, *told]

    def _record(self, task: str) -> np.ndarray:
        # as records are, of the watched signals alone; counters begin at zero
        names = [*self._columns[task]]
        pieces = self._held[task]
        table = np.empty((sum(len(t) for t, _ in pieces), 1 + len(names)))
        at = 0
        for t_ns, values in pieces:
            end = at + len(t_ns)
            table[at:end, 0] = np.ascontiguousarray(t_ns, np.int64).view(np.float64)
            table[at:end, 1:] = values
            at = end
        rows = table.view([("t_ns", "<i8"), *((n, "<f8") for n in names)]).reshape(len(table))
        for name in names if at else []:
            if name.rpartition("/")[2] in COUNTERS:
                last = float(rows[name][-1])
                rows[name] -= self._before.get((task, name), 0.0)
                self._before[task, name] = last
        pieces.clear()
        return rows


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

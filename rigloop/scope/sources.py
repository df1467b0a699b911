"""Sources of cycles for a scope: the rings of a run that goes on, and the records of one that is over."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import Protocol

import numpy as np

from rig_configs.mistakes import near
from rigloop.api.recorded_run import RecordedRun
from rigloop.api.watched import Watched
from rigloop.scope.rows import Rows, cycle_path, picked
from rigloop.signals.listing import signals_of
from rt_core.signals.ring_view import RingView

PART_ROWS = 50_000  # of a record that are taken at once


class Source(Protocol):
    """Cycles of some signals, in the order of their times.

    Attributes
    ----------
    name : str
        Of the rig.
    origin : str
        The run, as its folder.
    tasks : mapping of str to int
        Tasks whose rows come, with their periods, ns.
    paths : mapping of str to tuple of str
        By task: the signals of its rows, with the count of its cycles first where there is one.
    homes : mapping of str to str
        Task of each signal.
    units : mapping of str to str
    live : bool
        True: a trigger counts from now on; what is older is there only to be before it.
    """

    name: str
    origin: str
    tasks: dict[str, int]
    paths: Mapping[str, tuple[str, ...]]
    homes: Mapping[str, str]
    units: dict[str, str]
    live: bool

    def take(self) -> dict[str, Rows]:
        """Return the rows of each task since the last time."""

    @property
    def ended(self) -> bool:
        """True: no more rows will come; asked before `take`, it says so of what `take` then returns."""

    def close(self) -> None:
        """Let go of the run."""


Opened = Watched | RecordedRun


def homes_of(opened: Opened) -> dict[str, str]:
    """Return the task in whose rows each signal of a run is found: its writer's, else the first that mirrors it."""
    if isinstance(opened, RecordedRun):
        return dict(opened.signals)
    found: dict[str, str] = {}
    for producer in opened.signals.table.producers:
        for path in producer.paths if producer.ring_slots else ():
            if path not in found or path in producer.signals:
                found[path] = producer.name
    return found


def source_of(opened: Opened, paths: Iterable[str]) -> Source:
    """Return the cycles of some signals of a run.

    Parameters
    ----------
    opened : Watched or RecordedRun
        It stays the caller's: closing the source does not close it.
    paths : iterable of str

    Raises
    ------
    KeyError
        The run has no such signal.
    TableError
        The run has just ended.
    """
    homes = homes_of(opened)
    chosen: dict[str, list[str]] = {}
    for path in dict.fromkeys(paths):
        if path not in homes:
            raise KeyError(f"no signal {path!r}: {near(path, homes)}")
        task = homes[path]
        chosen.setdefault(task, [cycle_path(task)] if cycle_path(task) in homes else [])
        if path not in chosen[task]:
            chosen[task].append(path)
    taken = {task: tuple(names) for task, names in chosen.items()}
    own = {path: task for task, names in taken.items() for path in names}
    return (
        RecordSource(opened, taken, own)
        if isinstance(opened, RecordedRun)
        else RingSource(opened, taken, own)
    )


class RingSource:
    """The rings of a run that goes on, beside its recorder; see `Source`."""

    live = True

    def __init__(
        self, watched: Watched, paths: Mapping[str, tuple[str, ...]], homes: Mapping[str, str]
    ) -> None:
        self._watched = watched
        self.name, self.origin = watched.name, str(watched.folder)
        self.paths, self.homes = paths, homes
        table = watched.signals.table
        self.tasks = {p.name: p.period_ns for p in table.producers if p.name in paths}
        units = {signal.path: signal.unit or "" for signal in signals_of(watched.loaded.rig)}
        self.units = {path: units.get(path, "") for path in homes}
        self._views = {task: RingView(table, task, names) for task, names in paths.items()}

    def take(self) -> dict[str, Rows]:
        """Return the rows of each task since the last time; those written over in between are missing."""
        return {task: view.take()[0] for task, view in self._views.items()}

    @property
    def ended(self) -> bool:
        """True: the run has ended."""
        return not self._watched.lives

    def close(self) -> None:
        """Let go of the rings."""
        for view in self._views.values():
            view.close()


class RecordSource:
    """The records of a run, from their beginning; see `Source`."""

    live = False

    def __init__(
        self, run: RecordedRun, paths: Mapping[str, tuple[str, ...]], homes: Mapping[str, str]
    ) -> None:
        self._run, self._at = run, dict.fromkeys(paths, 0)
        self.name, self.origin = run.manifest.rig.name, str(run.folder)
        self.paths, self.homes = paths, homes
        self.tasks = {task: run.manifest.tasks[task].period_ns for task in paths}
        self.units = {path: run.units.get(path, "") for path in homes}

    def take(self) -> dict[str, Rows]:
        """Return the next rows of each task: those of one stretch of time."""
        ends = [int(self._t_ns(task)[at]) for task in self.paths if (at := self._part_end(task))]
        until = min(ends, default=None)
        found = {}
        for task, names in self.paths.items():
            t_ns, at = self._t_ns(task), self._at[task]
            end = len(t_ns) if until is None else max(at, bisect_left(t_ns, until))
            found[task] = picked(np.asarray(self._run.records[task][at:end]), names)
            self._at[task] = end
        return found

    @property
    def ended(self) -> bool:
        """True: all rows were taken."""
        return all(at == len(self._t_ns(task)) for task, at in self._at.items())

    def close(self) -> None:
        """Do nothing: the run is its owner's."""

    def _t_ns(self, task: str) -> np.ndarray:
        return self._run.records[task]["t_ns"]

    def _part_end(self, task: str) -> int | None:
        end = self._at[task] + PART_ROWS
        return end if end < len(self._t_ns(task)) else None

"""Cycles for the scope of a page: of the rings of a run on this machine, else of the record that the page reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from io_bridge.recording.record import TIME_FIELD, record_dtype
from rig_configs.mistakes import near
from rigloop.api.watched import Watched
from rigloop.monitor.sources.recorded_source import RecordedSource
from rigloop.monitor.sources.source import Moment, Source
from rigloop.run_folder.manifest import ManifestError
from rigloop.scope.opened import open_any
from rigloop.scope.rows import Rows, cycle_path
from rigloop.scope.setup import SetupError
from rigloop.scope.sources import RingSource, source_of
from rigloop.scope.sources import Source as Cycles
from rt_core.signals.layout import TableError

END_NS = 10**17
STRETCH_NS = 5 * 10**9
"""A record is read this far ahead in one turn."""
MOST_SHARES = 8  # of one answer, for a task whose answers are cut short


def homes_of(source: Source) -> dict[str, str]:
    """Return the task in whose record each signal of a page's source is."""
    found = ((path, source.recorded_in(path)) for path in source.signals)
    return {path: task for path, task in found if task is not None}


def cycles_of(
    source: Source, moment: Moment, paths: Iterable[str], pre_s: float, *, ahead: bool
) -> Cycles:
    """Return the cycles of some signals from now on, and those of `pre_s` before.

    Parameters
    ----------
    source : Source
    moment : Moment
        The state of now.
    paths : iterable of str
    pre_s : float
    ahead : bool
        Of a run that is over: cycles come before the page has played to them.

    Raises
    ------
    SetupError
        No run has a record yet.
    KeyError
        The source has no such signal.
    """
    if source.kind != "record" and (rings := _rings(moment.run, list(paths))) is not None:
        return rings
    return ReadCycles(source, moment, paths, pre_s, ahead=ahead)


class OwnRings(RingSource):
    """The rings of a run that goes on; they are let go with the run itself."""

    def __init__(self, watched: Watched, found: RingSource) -> None:
        super().__init__(watched, found.paths, found.homes)
        self._own = watched

    def close(self) -> None:
        """Let go of the rings and of the run."""
        super().close()
        self._own.close()


def _rings(folder: str, paths: list[str]) -> Cycles | None:
    """Return the rings of a run on this machine; None: it is on another one, or over, or its rings have not all."""
    try:
        opened = open_any(folder)
    except (SetupError, ManifestError, OSError):
        return None
    if not isinstance(opened, Watched):
        return None
    try:
        found = source_of(opened, paths)
        assert isinstance(found, RingSource)
        found.close()
        return OwnRings(opened, found)
    except (KeyError, TableError, OSError):
        opened.close()
        return None


class ReadCycles:
    """Cycles out of the record of a page's source, from a moment on; see `rigloop.scope.sources.Source`.

    Parameters
    ----------
    source : Source
        It stays the caller's.
    moment : Moment
    paths : iterable of str
    pre_s : float
    ahead : bool

    Attributes
    ----------
    now_ns : int
        The time from which on a trigger counts.
    is_over : bool
        The run is over: what is read now is the rest.
    """

    live = True

    def __init__(
        self, source: Source, moment: Moment, paths: Iterable[str], pre_s: float, *, ahead: bool
    ) -> None:
        self._source, self._ahead = source, ahead and isinstance(source, RecordedSource)
        self.name, self.origin = source.description.rig, moment.run
        homes = homes_of(source)
        chosen: dict[str, list[str]] = {}
        for path in dict.fromkeys(paths):
            if path not in homes:
                raise KeyError(f"no signal {path!r}: {near(path, homes)}")
            task = homes[path]
            names = chosen.setdefault(task, [cycle_path(task)] if cycle_path(task) in homes else [])
            if path not in names:
                names.append(path)
        self.paths: Mapping[str, tuple[str, ...]] = {t: tuple(n) for t, n in chosen.items()}
        self.homes: Mapping[str, str] = {
            path: task for task, names in self.paths.items() for path in names
        }
        self.units = {path: source.signals[path].unit for path in self.homes}
        periods = {task.name: task.period_us * 1000 for task in source.description.tasks}
        self.tasks = {task: periods[task] for task in self.paths}
        self.now_ns = round(moment.t_s * 1e9)
        self._at = dict.fromkeys(self.paths, max(0, self.now_ns - round(pre_s * 1e9)))
        self.is_over = False

    def take(self) -> dict[str, Rows]:
        """Return the rows of each task since the last time."""
        until = min(self._at.values()) + STRETCH_NS if self._ahead else END_NS
        return {task: self._rows(task, names, until) for task, names in self.paths.items()}

    @property
    def ended(self) -> bool:
        """True: no more rows will come."""
        if isinstance(self._source, RecordedSource) and self._source.kind == "record":
            reached_s = self._source.length_s if self._ahead else self._source.now_s
            return reached_s >= self._source.length_s and self._has_all()
        return self.is_over

    def close(self) -> None:
        """Do nothing: the source is its owner's."""

    def _has_all(self) -> bool:
        assert isinstance(self._source, RecordedSource)
        return all(at > self._source.end_ns(task) for task, at in self._at.items())

    def _rows(self, task: str, names: tuple[str, ...], until: int) -> Rows:
        found = []
        for _ in range(MOST_SHARES):
            begin = self._at[task]
            if isinstance(self._source, RecordedSource) and self._ahead:
                piece = self._source.recorded(names, task, begin, until)
            else:
                piece = self._source.capture(names, task, begin, until)
            # times come as seconds over a wire: none twice, none early
            new = (piece.t_ns >= begin) & (piece.t_ns < until)
            rows = np.zeros(int(new.sum()), record_dtype(names))
            rows[TIME_FIELD] = piece.t_ns[new]
            for path in names:
                rows[path] = piece.columns[path][new]
            if not len(rows):
                break
            self._at[task] = int(rows[TIME_FIELD][-1]) + 1
            found.append(rows)
        return np.concatenate(found) if found else np.zeros(0, record_dtype(names))

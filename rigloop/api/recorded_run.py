"""A run that is over, or goes on, read from its folder: signals as arrays with units, and what happened."""

from __future__ import annotations

import math
import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from io_bridge.recording.record import TIME_FIELD, RecordWarning
from rig_configs.mistakes import ConfigError, near
from rigloop.api.columns import Columns
from rigloop.api.events import Event, events_of
from rigloop.compose.wiring import load
from rigloop.run_folder.clocks import utc_of
from rigloop.run_folder.manifest import Manifest, read_manifest
from rigloop.run_folder.recorded import read_record
from rigloop.signals.listing import Signal, signals_of

Array = NDArray[np.float64]


def open_run(folder: str | Path) -> RecordedRun:
    """Open the folder of a run, live or replayed; also of one that goes on, with the rows that are there now.

    Parameters
    ----------
    folder : str or Path

    Returns
    -------
    RecordedRun

    Raises
    ------
    ManifestError
        No run folder, or a record of it is missing or damaged.

    Examples
    --------
    >>> import rigloop
    >>> run = rigloop.open_run(example_run)
    >>> run.verdict, run.tasks
    ('good', ('estimation', 'simulation'))
    >>> angle_rad = run["wheel/angle_rad"]
    >>> angle_rad.shape == run.t_s("wheel/angle_rad").shape
    True
    >>> run.units["wheel/angle_rad"]
    'rad'
    >>> [event.words for event in run.events if event.kind == "state"][:3]
    ['guard: INIT', 'guard: READY', 'guard: RUNNING']
    """
    return RecordedRun(Path(folder))


class RecordedRun:
    """The folder of a run as Python sees it; made by `rigloop.open_run`.

    Records are mapped, not read: a signal of an hour costs memory only once it is computed with.

    Attributes
    ----------
    folder : Path
    manifest : Manifest
        All that is known of the run beside its signals.
    records : dict of str to ndarray
        By task: a row a cycle, `t_ns` and every signal of the task's image, mirrors included.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest: Manifest = read_manifest(folder)
        self.records: dict[str, np.ndarray] = {}
        self.refresh()

    def __repr__(self) -> str:
        rows = ", ".join(f"{task} {len(record)} rows" for task, record in self.records.items())
        return f"<run of {self.manifest.rig.name}, {self.verdict}, {rows}>"

    def refresh(self) -> None:
        """Take in the rows that were recorded since, of a run that goes on."""
        with warnings.catch_warnings():
            if self.manifest.state in ("starting", "running"):
                # of a record that grows, the last row may be half written
                warnings.simplefilter("ignore", RecordWarning)
            for task, facts in self.manifest.tasks.items():
                self.records[task] = read_record(self.folder / facts.record)

    @property
    def tasks(self) -> tuple[str, ...]:
        """Tasks of the loop."""
        return tuple(self.records)

    @property
    def verdict(self) -> str:
        """The verdict, "good" or "bad"; `manifest.reasons` says why."""
        return self.manifest.verdict

    @property
    def good(self) -> bool:
        """True: the verdict is good."""
        return self.manifest.verdict == "good"

    @cached_property
    def signals(self) -> dict[str, str]:
        """Task of each recorded signal: the one that wrote it."""
        writers = {signal.path: signal.task for signal in self._listed}
        found = {}
        for task, record in self.records.items():
            for path in record.dtype.names or ():
                if path != TIME_FIELD and (path not in found or writers.get(path) == task):
                    found[path] = task
        return found

    @cached_property
    def units(self) -> dict[str, str]:
        """Unit of each signal, as the rig's wiring has it; "" where nobody knows it."""
        known = {signal.path: signal.unit for signal in self._listed if signal.unit is not None}
        return Columns(np.empty(0), dict.fromkeys(self.signals, np.empty(0)), known).units

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """Events of the run in the order of their times: states of guards, faults, late cycles, the bus."""
        return events_of(self.folder, self.manifest, self.records)

    def __contains__(self, path: object) -> bool:
        return path in self.signals

    def __getitem__(self, path: str) -> Array:
        """Return the values of a signal, one for each cycle of its task."""
        return np.asarray(self.records[self._task(path)][path])

    def t_ns(self, of: str) -> NDArray[np.int64]:
        """Return the nominal time of each cycle of a task, or of the task of a signal, ns since the first cycle."""
        return np.asarray(self.records[self._task(of)][TIME_FIELD])

    def t_s(self, of: str) -> Array:
        """Return the same in s."""
        return self.t_ns(of).astype(np.float64) * 1e-9

    def columns(
        self,
        *paths: str,
        at: str | None = None,
        between_s: tuple[float, float] | None = None,
    ) -> Columns:
        """Return signals over one time.

        Parameters
        ----------
        *paths : str
            Signals; all that the task `at` recorded, mirrors included, if there is none.
        at : str, optional
            Task, or signal, at whose times they are taken. Needed where they are of several tasks: those of another
            task have the value that was the newest at that time, NaN before the first.
        between_s : pair of float, optional
            Only cycles from the first time on and before the second.

        Raises
        ------
        KeyError
            No such signal or task.
        ValueError
            Signals of several tasks without `at`, or a time that is not a number.
        TypeError
            `between_s` is no pair of times.
        """
        homes = [self._task(path) for path in paths]
        if at is None and len(set(homes)) != 1:
            known = ", ".join(sorted(set(homes)) or self.tasks)
            raise ValueError(
                f"at which times? signals of {known}; give at=, one of the tasks {', '.join(self.tasks)}"
            )
        if at is not None and at not in self.records and at not in self.signals:
            names = ", ".join(self.tasks)
            raise KeyError(f"{self.folder}: at = {at!r}: no task and no signal; tasks: {names}")
        home = self._task(at) if at is not None else homes[0]
        record = self.records[home]
        if between_s is not None:
            # a record is searched where it lies; a copy of its times may be large
            low, high = (bisect_left(record[TIME_FIELD], t_ns) for t_ns in _pair_ns(between_s))
            record = record[low:high]
        t_ns = np.asarray(record[TIME_FIELD])
        if not paths:
            paths = tuple(path for path in record.dtype.names or () if path != TIME_FIELD)
            homes = [home] * len(paths)
        columns = {
            path: np.asarray(record[path]) if task == home else self._held(path, task, t_ns)
            for path, task in zip(paths, homes, strict=True)
        }
        return Columns(t_ns * 1e-9, columns, self.units)

    def monotonic_ns(self, t_s: ArrayLike) -> NDArray[np.int64]:
        """Return times of the run on CLOCK_MONOTONIC of its machine.

        Raises
        ------
        ValueError
            The run does not say when its first cycle was: a replay, or a run of an older version.
        """
        if not self.manifest.first_cycle_ns:
            raise ValueError(f"{self.folder}: does not say when its first cycle was")
        since_ns = np.rint(np.asarray(t_s, np.float64) * 1e9).astype(np.int64)
        return self.manifest.first_cycle_ns + since_ns

    def utc(self, t_s: ArrayLike) -> NDArray[np.datetime64]:
        """Return times of the run in UTC, by the clock of its machine.

        Raises
        ------
        ValueError
            As `monotonic_ns`.
        """
        return utc_of(self.manifest.clocks, self.monotonic_ns(t_s))

    @cached_property
    def _listed(self) -> Sequence[Signal]:
        try:
            return signals_of(load(str(self.folder / "rig.toml")).rig)
        except ConfigError:
            # of another version, or damaged: its records still say what the signals are called
            return ()

    def _task(self, of: str) -> str:
        if of in self.records:
            return of
        try:
            return self.signals[of]
        except KeyError:
            known = (*self.signals, *self.records)
            raise KeyError(f"{self.folder}: no signal {of!r}: {near(of, known)}") from None

    def _held(self, path: str, task: str, t_ns: NDArray[np.int64]) -> Array:
        if not len(t_ns):
            return np.empty(0)
        record = self.records[task]
        # only the rows of this time are looked at, however long the run is
        first = max(0, bisect_right(record[TIME_FIELD], t_ns[0]) - 1)
        rows = record[first : bisect_right(record[TIME_FIELD], t_ns[-1])]
        row = np.searchsorted(np.asarray(rows[TIME_FIELD]), t_ns, side="right") - 1
        values = np.append(np.asarray(rows[path]), np.nan)
        return values[row]  # before the first it is the last one, NaN


def _pair_ns(between_s: object) -> tuple[float, float]:
    """Return two times as whole nanoseconds, or infinite."""
    try:
        first, second = (float(t_s) for t_s in between_s)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise TypeError(
            f"between_s = {between_s!r:.60}: give two times, (first_s, second_s)"
        ) from None
    if math.isnan(first) or math.isnan(second):
        raise ValueError(f"between_s = {between_s!r:.60}: give two times that are numbers")
    first_ns, second_ns = (
        round(t_s * 1e9) if math.isfinite(t_s * 1e9) else t_s for t_s in (first, second)
    )
    return first_ns, second_ns

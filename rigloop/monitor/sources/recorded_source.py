"""A run folder as a source: the record of a run that is over, or that goes on."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rigloop.api.recorded_run import RecordedRun
from rigloop.compose.wiring import load
from rigloop.monitor.sources.description import description_of
from rigloop.monitor.sources.source import Moment, Piece, Source, SourceGoneError
from rigloop.protocol.answers import SignalRow
from rigloop.run_folder import messages
from rigloop.run_folder.manifest import ManifestError
from rigloop.signals.listing import signals_of

RUNNING = ("starting", "running")
MOST_ROWS = 200_000  # of one capture


class RecordedSource(Source):
    """The record of a run, on this machine.

    A run that is over plays: its time of now goes from the beginning to the end, as fast as `play` says.

    Parameters
    ----------
    folder : Path

    Raises
    ------
    ManifestError
        It is no run folder.
    ConfigError
        The rig file in it has mistakes.
    """

    def __init__(self, folder: Path) -> None:
        self._run = RecordedRun(folder)
        self._goes_on = self._run.manifest.state in RUNNING
        self.kind = "run" if self._goes_on else "record"
        loaded = load(str(folder / "rig.toml"))
        self.description = description_of(loaded)
        recorded = self._run.signals
        self.signals = {
            s.path: SignalRow(s.path, s.unit or "", s.writer, s.task)
            for s in signals_of(loaded.rig)
            if s.path in recorded
        }
        self._speed, self._at_s, self._since = 1.0, 0.0, time.monotonic()

    @property
    def length_s(self) -> float:
        """Time of the last recorded cycle, s."""
        ends = [int(record["t_ns"][-1]) for record in self._run.records.values() if len(record)]
        return max(ends, default=0) * 1e-9

    @property
    def now_s(self) -> float:
        """The time of now: that of the newest cycle, or how far a run that is over has played."""
        if self._goes_on:
            return self.length_s
        played_s = self._at_s + self._speed * (time.monotonic() - self._since)
        return min(self.length_s, max(0.0, played_s))

    def play(self, speed: float, at_s: float | None = None) -> None:
        """Play a run that is over, from a moment on; with the speed 0 it stands still."""
        self._at_s = self.now_s if at_s is None else min(self.length_s, max(0.0, at_s))
        self._speed, self._since = speed, time.monotonic()

    def moment(self) -> Moment:
        """Return the state of now."""
        manifest = self._run.manifest
        if self._goes_on:
            self._refresh()
            manifest = self._run.manifest
        verdict = manifest.verdict if manifest.state not in RUNNING else ""
        words = (f"verdict {verdict}", *manifest.reasons) if verdict else ()
        phase = "record" if not self._goes_on else "armed"
        return Moment(
            str(self._run.folder), 1, phase, "", "", "", self.now_s, words=tuple(map(str, words))
        )

    def capture(self, paths: Sequence[str], task: str, from_ns: int, to_ns: int) -> Piece:
        """Return recorded cycles; of a run that is over, none after the moment that it has played to."""
        if self._goes_on:
            self._refresh()
        else:
            to_ns = min(to_ns, round(self.now_s * 1e9) + 1)
        return self.recorded(paths, task, from_ns, to_ns)

    def recorded(self, paths: Sequence[str], task: str, from_ns: int, to_ns: int) -> Piece:
        """Return recorded cycles, wherever a run that is over has played to."""
        t_ns = self._run.records[task]["t_ns"]
        to_ns = min(to_ns, self.end_ns(task) + 1)
        first, last = np.searchsorted(t_ns, (from_ns, max(from_ns, to_ns)))
        if last - first > MOST_ROWS:
            last = first + MOST_ROWS
            to_ns = int(t_ns[last])
        found = self._run.columns(*paths, at=task, between_s=(from_ns * 1e-9, to_ns * 1e-9))
        times = np.rint(found.t_s * 1e9).astype(np.int64)
        return Piece(times, {path: np.asarray(found[path]) for path in paths}, to_ns)

    def end_ns(self, task: str) -> int:
        """Return the time of the last recorded cycle of a task; -1 without any."""
        t_ns = self._run.records[task]["t_ns"]
        return int(t_ns[-1]) if len(t_ns) else -1

    def newest(self, paths: Sequence[str]) -> dict[str, float]:
        """Return the values of the moment that the run has played to."""
        now_ns = int(self.now_s * 1e9)
        found = {}
        for path in paths:
            task = self.recorded_in(path)
            if task is None:
                continue
            record = self._run.records[task]
            row = int(np.searchsorted(record["t_ns"], now_ns, side="right")) - 1
            if row >= 0:
                found[path] = float(record[path][row])
        return found

    def close(self) -> None:
        """Do nothing: the files are mapped, and the run does not know."""

    def _refresh(self) -> None:
        try:
            self._run.refresh()
            if messages.read_report(self._run.folder) is None and not self._run.folder.is_dir():
                raise SourceGoneError(f"{self._run.folder}: is gone")
        except (ManifestError, OSError) as error:
            raise SourceGoneError(str(error)) from None

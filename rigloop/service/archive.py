"""Cycles from the record of a run, and the list of run folders; read in a thread, beside the service's own."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np

from rigloop.api.recorded_run import RecordedRun
from rigloop.protocol.answers import Refused, RunRow, ToCapture, Why
from rigloop.protocol.limits import MOST_ANSWER_VALUES
from rigloop.protocol.requests import Capture
from rigloop.run_folder.manifest import ManifestError, read_manifest

MOST_LOOKED_AT = 500  # folders


class Archive:
    """Only one thread may use it: the run that was read last is kept open."""

    def __init__(self) -> None:
        self._run: RecordedRun | None = None

    def capture(self, folder: str, asked: Capture) -> ToCapture:
        """Return the cycles from one moment on to another, or as many as an answer takes.

        Raises
        ------
        Refused
            No such signal or task, several tasks without `at`, or the record cannot be read.
        """
        try:
            run = self._opened(Path(folder))
            homes = {run.signals[path] for path in asked.paths if path in run.signals}
            if len(homes) > 1 and not asked.at:
                raise Refused(
                    Why.VALUE, f"signals of {', '.join(sorted(homes))}: give at, one of these tasks"
                )
            at = asked.at or None
            leading = {*homes, *([run.signals.get(at, at)] if at is not None else [])}
            ends = [run.records[home]["t_ns"] for home in leading if home in run.records]
            # a record whose cycles are not all there yet is read as far as the shortest one
            reached_s = min((int(t[-1]) * 1e-9 if len(t) else 0.0 for t in ends), default=0.0)
            to_s = min(asked.to_s, reached_s)
            home = run.signals.get(at, at) if at is not None else next(iter(homes), None)
            if home in run.records:
                to_s = min(to_s, _affordable_s(run, home, asked))
            found = run.columns(*asked.paths, at=at, between_s=(asked.from_s, to_s))
        except KeyError as error:
            raise Refused(Why.UNKNOWN, str(error.args[0])) from None
        except (ManifestError, ValueError, OSError) as error:
            raise Refused(Why.FAILED, f"{folder}: {error}") from None
        return ToCapture(
            found.t_s.astype("<f8").tobytes(),
            {path: np.asarray(found[path], "<f8").tobytes() for path in found},
            to_s,
        )

    def _opened(self, folder: Path) -> RecordedRun:
        if self._run is None or self._run.folder != folder:
            self._run = RecordedRun(folder)
        else:
            self._run.refresh()
        return self._run


def _affordable_s(run: RecordedRun, home: str, asked: Capture) -> float:
    """Return the moment before which an answer is full."""
    t_ns = run.records[home]["t_ns"]
    first = int(np.searchsorted(t_ns, round(asked.from_s * 1e9)))
    after = first + max(1, MOST_ANSWER_VALUES // (len(asked.paths) + 1))
    return int(t_ns[after]) * 1e-9 if after < len(t_ns) else float("inf")


def list_runs(base: Path, most: int) -> list[RunRow]:
    """Return the newest run folders of a base folder, the newest first."""
    try:
        names = sorted((path.name for path in base.iterdir()), reverse=True)
    except OSError:
        return []
    found = []
    for name in itertools.islice(names, MOST_LOOKED_AT):
        try:
            manifest = read_manifest(base / name)
        except (ManifestError, OSError):
            continue
        verdict = manifest.verdict if manifest.state == "ended" else ""
        found.append(RunRow(str(base / name), manifest.rig.name, verdict))
        if len(found) == most:
            break
    return found

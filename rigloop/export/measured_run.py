"""A run folder as what is exported: signals of each task, units, UTC, events, facts."""

from __future__ import annotations

import contextlib

import numpy as np

from io_bridge.exports.measured import Group, Happening, Measured
from io_bridge.exports.refused import ExportError
from io_bridge.recording.record import TIME_FIELD
from rig_configs.bounded import MOST_KEPT_BYTES, read_bytes
from rig_configs.mistakes import near
from rigloop.api.recorded_run import RecordedRun
from rigloop.run_folder.manifest import MANIFEST
from rigloop.signals.listing import is_like

NS = 1_000_000_000
MOST_S = 9e9  # whose nanoseconds are a number of 64 bits


def measured_run(
    run: RecordedRun,
    *,
    like: str | None = None,
    between_s: tuple[float, float] | None = None,
) -> Measured:
    """Return the signals of a run, each once: that of the task which wrote it.

    Parameters
    ----------
    like : str, optional
        Only signals with this in their path, or like it where it has a star.
    between_s : pair of float, optional
        Only cycles from the first time on and before the second.

    Raises
    ------
    ExportError
        Nothing is left.
    """
    ends_ns = None if between_s is None else _ends_ns(between_s)
    groups = []
    for task, record in run.records.items():
        names = record.dtype.names or ()
        paths = tuple(
            path
            for path in names
            if run.signals.get(path) == task and (like is None or is_like(path, like))
        )
        low, high = (0, len(record))
        if ends_ns is not None:
            low, high = np.searchsorted(np.asarray(record[TIME_FIELD]), ends_ns).tolist()
        rows = record[low:high]
        if paths and len(rows):
            units = tuple(run.units[path] for path in paths)
            period_ns = run.manifest.tasks[task].period_ns
            groups.append(Group(task, rows, paths, units, period_ns))
    if not groups:
        chosen = "no cycle is recorded"
        if like is not None and not any(is_like(path, like) for path in run.signals):
            near_by = near(like, run.signals)
            raise ExportError(
                f"{run.folder}: no signal is like {like!r}: there is nothing to export; {near_by}"
            )
        if between_s is not None:
            chosen += f", or no cycle lies between {between_s[0]:g} and {between_s[1]:g} s"
        raise ExportError(f"{run.folder}: {chosen}: there is nothing to export")
    groups.sort(key=lambda group: -len(group))
    return Measured(
        run.folder.resolve().name,
        tuple(groups),
        _utc_ns(run),
        tuple(
            Happening(round(event.t_s * NS), event.kind, event.words)
            for event in run.events
            if between_s is None or between_s[0] <= event.t_s < between_s[1]
        ),
        _facts(run),
        _files(run),
    )


def _ends_ns(between_s: tuple[float, float]) -> list[int]:
    first, second = between_s
    if not first < second:  # NaN too
        raise ExportError(
            f"--between {first:g} {second:g}: give the first time, s, and a later one; inf is the end"
        )
    return [round(min(max(t_s, -MOST_S), MOST_S) * NS) for t_s in between_s]


def _files(run: RecordedRun) -> dict[str, bytes]:
    found = {}
    for name in (MANIFEST, "rig.toml"):
        with contextlib.suppress(OSError):  # a run that was cut short may have no rig
            found[name] = read_bytes(run.folder / name, MOST_KEPT_BYTES)
    return found


def _utc_ns(run: RecordedRun) -> int | None:
    try:
        return int(run.utc(0.0).astype(np.int64))
    except ValueError:
        return None


def _facts(run: RecordedRun) -> dict[str, object]:
    manifest = run.manifest
    utc_ns = _utc_ns(run)
    return {
        "run": run.folder.resolve().name,
        "kind": manifest.kind,
        "rig": manifest.rig.name,
        "rig_sha256": manifest.rig.sha256,
        "started": manifest.started,
        "utc_ns": utc_ns,
        "duration_s": manifest.duration_s,
        "verdict": manifest.verdict,
        "reasons": list(manifest.reasons),
        "kernels": {kernel.name: kernel.sha256 for kernel in manifest.kernels},
        "versions": dict(manifest.versions),
        "faults": [fault.words for fault in manifest.faults],
    }

"""Judge a replay, and keep its evidence: data faults of a log, or the comparison with the run it repeats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from io_bridge.logs.reader import EncoderLog
from io_bridge.recording.record import open_record
from rig_configs.load import LoadedRig
from rigloop.blocks.kinds.encoder_filter import EncoderFilterBlock
from rigloop.compose.blocks import paths
from rigloop.judge.trust import distrust
from rigloop.judge.verdict import roles
from rigloop.logs.verdict import against_log
from rigloop.replay.replay_manifest import Findings, Replayed, keep_manifest
from rigloop.replay.script import Pace
from rigloop.report.report import kinds_of_fault
from rigloop.report.smoothed import keep_smoothed
from rigloop.report.status_words import in_words
from rigloop.report.torque import keep_observed_torque
from rigloop.run_folder.compared import Comparison, Difference
from rigloop.run_folder.manifest import (
    DataFault,
    Manifest,
    Named,
    Replay,
    sha256_of,
)
from rigloop.run_folder.outcome import Outcome

DIFFERENCES = "differences.json"
MOST_TOLD = 12  # signals that differ, on a screen
OPEN_LOOP = (
    "sensors are those of the record: hands and drive did not respond to the change; "
    "a live run shows their response"
)
Records = Mapping[str, np.ndarray]


def conclude_log(done: Replayed, log: EncoderLog, superseded: int, measured: list[str]) -> Outcome:
    """Write the evidence of a replayed log; bad if model or filter failed on it, or had no encoder to follow."""
    folder, loaded, pace = done.folder, done.loaded, done.pace
    records = {task: open_record(folder / f"{task}.npy") for task in loaded.rig.tasks}
    doubts = distrust(loaded.rig, records, is_live=False)
    bad = [*_failures(loaded, records), *against_log(log), *doubts.red]
    duration_s = log.duration_s
    signals = {
        role: where
        for role, where in roles(loaded).items()
        if where[1] in _names(records[where[0]])
    }
    torque = next((path for path in measured if path.endswith("_nm")), None)
    if torque:
        task = next(task for task, record in records.items() if torque in _names(record))
        signals["measured"] = (task, torque)
    replay = Replay(
        log=Named(log.path.name, sha256_of(log.path)),
        mapping=log.mapping.name,
        rows=log.n_rows,
        speed=duration_s / pace.total_s,
        superseded=superseded,
    )
    faults = tuple(DataFault(**asdict(f)) for f in log.faults)
    notes = [f"{kinds_of_fault(len(faults))} in the log, handled as listed"] if faults else []
    notes += doubts.amber
    keep_observed_torque(folder, log)
    manifest = keep_manifest(
        done, lengths_of(records), Findings(bad, notes, duration_s, signals, faults), replay
    )
    figures = [
        (
            "log",
            log.path.name,
            f"mapping {log.mapping.name}, {log.n_rows} rows, {duration_s:.2f} s",
        ),
        (
            "filter",
            f"{log.bandwidth_rad_s(_bandwidth(loaded)):.1f} rad/s",
            f"samples every {log.sample_period_s * 1e3:.2f} ms",
        ),
        *_range(records, signals),
        *speed_rows(duration_s, pace),
    ]
    told = [f"{f.kind}: {f.count}, first at row {f.first_row}: {f.words}" for f in faults]
    return Outcome(not bad, list(manifest.reasons), str(folder), figures, told)


def conclude_run(
    done: Replayed,
    run: Path,
    was: Manifest,
    before: Records,
    again: Records,
    written: set[str],
) -> Outcome:
    """Compare a replayed run with its record bit for bit; bad if a bit differs or the kernel is another one."""
    folder, loaded, pace = done.folder, done.loaded, done.pace
    bad = [
        f"kernel {name} is another binary than the run's: same bits are not promised"
        for name in _others(done, was)
    ]
    compared = 0
    for task, record in before.items():
        for path in sorted(written & set(_names(record))):
            old, new = (np.ascontiguousarray(r[path]).view(np.int64) for r in (record, again[task]))
            compared += len(old)
            differs = np.flatnonzero(old != new)
            if len(differs):
                row = int(differs[0])
                bad.append(
                    f"{path} differs in {len(differs)} of {len(old)} cycles, first at row {row}: "
                    f"{record[path][row]!r} live, {again[task][path][row]!r} replayed"
                )
    notes = [] if bad else [f"bit-equal to the live run: {compared} values"]
    duration_s = float(max(record["t_ns"][-1] for record in before.values())) * 1e-9
    replay = Replay(
        log=Named(run.name, sha256_of(run / "manifest.json")),
        mapping="recorded run",
        rows=sum(len(record) for record in before.values()),
        speed=duration_s / pace.total_s,
    )
    keep_smoothed(folder, loaded, again)
    keep_manifest(done, lengths_of(again), Findings(bad, notes, duration_s, was.signals), replay)
    figures = [
        ("run", run.name, f"{duration_s:.2f} s"),
        *((f"{task} cycles", f"{len(record)}", "") for task, record in before.items()),
        ("compared", f"{compared}", "values, bit for bit"),
        *speed_rows(duration_s, pace),
    ]
    return Outcome(not bad, bad or notes, str(folder), figures, [])


def conclude_what_if(
    done: Replayed, run: Path, was: Manifest, found: Comparison, again: Records, changed: list[str]
) -> Outcome:
    """Write the evidence of a what-if, and its differences; bad if a model or filter failed under the change."""
    folder, loaded, pace = done.folder, done.loaded, done.pace
    doubts = distrust(loaded.rig, again, is_live=False)
    bad = [*_failures(loaded, again), *doubts.red]
    known = {kernel.name for kernel in was.kernels}
    others = [
        f"kernel {name} is another binary than the run's"
        if name in known
        else f"kernel {name} is new: the run has none of this name"
        for name in _others(done, was)
    ]
    notes = [found.words(), *others, *doubts.amber, OPEN_LOOP]
    duration_s = float(max(record["t_ns"][-1] for record in again.values())) * 1e-9
    replay = Replay(
        log=Named(run.name, sha256_of(run / "manifest.json")),
        mapping="what if",
        rows=sum(len(record) for record in again.values()),
        speed=duration_s / pace.total_s,
    )
    signals = {
        role: where
        for role, where in was.signals.items()
        if where[0] in again and where[1] in _names(again[where[0]])
    }
    keep_manifest(done, lengths_of(again), Findings(bad, notes, duration_s, signals), replay)
    (folder / DIFFERENCES).write_bytes(
        msgspec.json.format(msgspec.json.encode({"changed": changed, "comparison": found}))
    )
    firsts = found.firsts
    figures = [
        ("run", run.name, f"{duration_s:.2f} s"),
        *((f"change {n}", words, "") for n, words in enumerate(changed, 1)),
        ("compared", f"{found.values}", f"values of {found.signals} signals"),
        ("equal", f"{found.signals - len(firsts)}", "signals, bit for bit"),
        *(_told(difference) for difference in firsts[:MOST_TOLD]),
        *speed_rows(duration_s, pace),
    ]
    left = len(firsts) - MOST_TOLD
    told = [f"{left} more signals differ: {folder / DIFFERENCES} has all"] if left > 0 else []
    return Outcome(not bad, bad or notes[:1], str(folder), figures, [*told, *notes[1:]])


def _others(done: Replayed, was: Manifest) -> list[str]:
    """Return the kernels that are not those of the run."""
    kept = {kernel.name: kernel.sha256 for kernel in was.kernels}
    return [name for name, kernel in done.kernels.items() if kept.get(name) != kernel.hash]


def _told(difference: Difference) -> tuple[str, str, str]:
    largest = difference.largest
    shown = largest if isinstance(largest, str) else f"{largest:.3g}"
    return (
        difference.path,
        f"≤ {shown}",
        f"apart, from {difference.first_s} s on (row {difference.first_row} of {difference.task}), "
        f"in {difference.differing} cycles",
    )


def _failures(loaded: LoadedRig, records: Records) -> list[str]:
    """Return what the blocks themselves say went wrong."""
    found = []
    for name, block in loaded.rig.blocks.items():
        if block.kind not in ("mechanism", "observer"):
            continue
        path = paths(name, block)[1]["status"]
        # an observer may have been left out, see `replay_log`
        status = next((r[path] for r in records.values() if path in _names(r)), np.zeros(0))
        if np.any(status != 0):
            row = int(np.flatnonzero(status != 0)[0])
            found.append(
                f"{path} = {in_words(int(status[row]))} in {np.count_nonzero(status)} cycles, first at row {row}"
            )
    return found


def lengths_of(records: Records) -> dict[str, int]:
    """Return the number of cycles of each record."""
    return {task: len(record) for task, record in records.items()}


def _names(record: np.ndarray) -> tuple[str, ...]:
    return record.dtype.names or ()


def _bandwidth(loaded: LoadedRig) -> float:
    return next(
        b.bandwidth_rad_s for b in loaded.rig.blocks.values() if isinstance(b, EncoderFilterBlock)
    )


def _range(records: Records, signals: Mapping[str, tuple[str, str]]) -> list[tuple[str, str, str]]:
    rows = []
    for role in ("angle", "torque"):
        if role in signals:
            task, path = signals[role]
            values: Any = records[task][path]
            known = values[np.isfinite(values)]
            ends = f"{np.min(known):.4g} … {np.max(known):.4g}" if len(known) else "no number"
            lost = len(values) - len(known)
            rows.append(
                (path, ends, f"{lost} of {len(values)} cycles have no number" if lost else "")
            )
    return rows


def speed_rows(
    duration_s: float, pace: Pace, kept: str = "with every cycle recorded"
) -> list[tuple[str, str, str]]:
    """Return how much faster than real time a replay was, of its cycles alone and with what was kept."""
    return [
        (
            "speed",
            f"{duration_s / pace.cycles_s:.0f} ×",
            "faster than real time, filter and kernel",
        ),
        ("", f"{duration_s / pace.total_s:.0f} ×", kept),
        *([("", f"{duration_s / pace.cpu_s:.0f} ×", "of processor time")] if pace.cpu_s else []),
    ]

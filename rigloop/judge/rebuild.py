"""The verdict and the report of a run that was cut short, from whatever it left."""

from __future__ import annotations

import contextlib
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from io_bridge.recording.record import RecordError
from rig_configs.load import LoadedRig
from rigloop.blocks.checked import read_checked
from rigloop.compose.blocks import find_guard, find_guards, paths
from rigloop.judge.verdict import CutShort, conclude
from rigloop.report.report import write_report
from rigloop.run_folder import messages
from rigloop.run_folder.clocks import utc_text
from rigloop.run_folder.last_state import LAST, find_final, record_of, save_rings
from rigloop.run_folder.limited import limited_line
from rigloop.run_folder.manifest import (
    MANIFEST,
    Manifest,
    ManifestError,
    Named,
    Right,
    TaskFacts,
    read_manifest,
    versions,
)
from rigloop.run_folder.outcome import Outcome
from rigloop.run_folder.process_state import boot
from rigloop.run_folder.run_end import Ended, Final, Supervision
from rigloop.run_folder.tables import KEPT, is_orphan, is_owned
from rt_core.doctor.check import banner
from rt_core.safety.trips import State
from rt_core.signals.layout import TableError
from rt_core.signals.table import SignalTable

if TYPE_CHECKING:
    from rigloop.inject.request import Injection

RAMP_OUT_S = 3.0  # that a loop may need to come to rest once its supervisor is gone


def report_again(folder: Path) -> Outcome:
    """Write the report of a run folder again; of a run that was cut short, its verdict first.

    Raises
    ------
    ManifestError
        No run folder, or its run still goes on, or nothing can be written.
    """
    if not folder.is_dir():
        raise ManifestError(f"{folder}: no such run folder")
    manifest, missing = _kept(folder)
    if manifest is not None and manifest.state in ("ended", "not started", "interrupted"):
        # the verdict stands; of one that was cut short, rows that were there then are in it
        _write(folder)
        return _as_it_was(folder, manifest)
    if manifest is not None:
        _refuse_if_it_lives(folder, manifest)
    if manifest is not None and manifest.kind == "replay":
        raise ManifestError(
            f"{folder}: a replay that was cut short: `rigloop replay {folder} --resume` continues from its "
            "last saved position"
        )
    loaded = _rig(folder, manifest)
    if manifest is None:
        manifest = _bare(folder, loaded)
    return _rebuild(folder, loaded, manifest, missing)


def _kept(folder: Path) -> tuple[Manifest | None, list[str]]:
    path = folder / MANIFEST
    if not path.exists():
        return None, ["There is no manifest: kernels, rights and host of the run are unknown."]
    try:
        return read_manifest(folder), []
    except ManifestError as error:
        words = str(error).removeprefix(f"{path}: ")
        return None, [
            f"The manifest cannot be read ({words}): kernels, rights and host are not known."
        ]


def _write(folder: Path) -> None:
    try:
        write_report(folder)
    except OSError as error:
        raise ManifestError(f"{folder}: cannot be written: {error.strerror}") from None


def _as_it_was(folder: Path, manifest: Manifest) -> Outcome:
    figures: list[tuple[str, str, str]] = [
        ("ran for", f"{manifest.duration_s:.1f} s", manifest.state)
    ]
    return Outcome(
        manifest.verdict == "good",
        list(manifest.reasons),
        str(folder),
        figures,
        [*manifest.notes, *manifest.missing],
        banner(manifest.checks),
        list(manifest.injections),
        limited_line(manifest.limited),
    )


def _refuse_if_it_lives(folder: Path, manifest: Manifest) -> None:
    """Wait for a loop that ramps out without its supervisor; refuse what still runs."""
    until = time.monotonic() + RAMP_OUT_S
    while living := _living(manifest) or _owner(manifest):
        if time.monotonic() > until or "supervisor" in living:
            who = ", ".join(f"{role} {pid}" if pid else role for role, pid in living.items())
            raise ManifestError(
                f"{folder}: this run is still active ({who}); end it, or wait for its end"
            )
        time.sleep(0.05)


def _living(manifest: Manifest) -> dict[str, int]:
    if manifest.boot != boot():
        return {}
    return {role: process.pid for role, process in manifest.processes.items() if process.lives}


def _owner(manifest: Manifest) -> dict[str, int]:
    # of a container that counts processes for itself
    return {"a process of another container": 0} if is_owned(manifest.table) else {}


def _rig(folder: Path, manifest: Manifest | None) -> LoadedRig:
    path = folder / "rig.toml"
    if not path.exists():
        raise ManifestError(f"{folder}: no run folder: there is no rig.toml in it")
    try:
        loaded = read_checked(path)
    except (OSError, ValueError) as error:
        raise ManifestError(f"{path}: cannot be read: {str(error).splitlines()[0]}") from None
    if manifest is not None and loaded.sha256 != manifest.rig.sha256:
        raise ManifestError(f"{path}: not the rig of the run: changed since")
    asked = _order(folder)
    name = manifest.rig.name if manifest else asked.rig if asked else loaded.name
    return replace(loaded, name=name)


def _order(folder: Path) -> messages.Order | None:
    try:
        return messages.read_order(folder)
    except (OSError, msgspec.DecodeError):
        return None


def _bare(folder: Path, loaded: LoadedRig) -> Manifest:
    asked = _order(folder)
    made = (folder / "rig.toml").stat().st_mtime
    return Manifest(
        kind="live",
        rig=Named(loaded.name, loaded.sha256),
        kernels=(),
        started=utc_text(made),
        duration_s=0.0,
        verdict="bad",
        reasons=(),
        tasks={
            name: TaskFacts(task.period_us * 1000, f"{name}.npy")
            for name, task in loaded.rig.tasks.items()
        },
        versions=versions(),
        host={},
        state="running",
        mode=asked.mode.value if asked else None,
        table=asked.table if asked else "",
    )


def _rebuild(folder: Path, loaded: LoadedRig, was: Manifest, missing: list[str]) -> Outcome:
    tables = [Path(was.table)] if was.table and is_orphan(was.table) else []
    if (folder / KEPT).exists():
        tables.append(folder / KEPT)
    saved = _save(folder, tables, loaded, missing)
    final, source = find_final(folder, tables, loaded.rig.tasks)
    missing += _say_what_is_missing(folder, loaded, source, saved)
    report = _report(folder, missing)
    seen = Supervision(armed_s=_armed_s(folder, loaded))
    why = f"the run was cut short while it was {was.state}, after {seen.armed_s:.1f} s" + (
        f" of {was.asked_s:g} s" if was.asked_s is not None else ""
    )
    known = Final(defaultdict(float, final.signals), final.histograms, final.late, final.rings)
    kernels = was.kernels or tuple(Named(name, hash) for name, hash in report.kernels.items())
    reason = f"{why}: supervisor, cycle process or the machine did not come to an end"
    outcome = conclude(
        folder,
        loaded,
        Ended(seen, known, None, report),
        msgspec.structs.replace(
            was, kernels=kernels, mode=was.mode or messages.Mode.DEGRADED.value
        ),
        _injections(folder, loaded),
        CutShort(missing, [reason]),
    )
    _clean(folder, was, tables)
    return msgspec.structs.replace(outcome, notes=[*outcome.notes, *missing])


def _save(folder: Path, tables: list[Path], loaded: LoadedRig, missing: list[str]) -> int:
    saved = 0
    for table in tables:
        try:
            with SignalTable.attach(table, writable=True) as shared:
                saved += sum(save_rings(folder, shared, loaded.rig.tasks).values())
        except (OSError, TableError, RecordError, KeyError) as error:
            missing.append(
                f"The newest cycles in {table} could not be added to the record: {error}."
            )
    return saved


def _say_what_is_missing(folder: Path, loaded: LoadedRig, source: str, saved: int) -> list[str]:
    found = [f"Final signals and histograms are those of {source}."]
    if source.endswith("records"):
        found[0] += (
            " Histograms of whole cycles and of blocks, and the cycles around late ones, are lost."
        )
    if saved:
        found.append(f"{saved} cycles that the recorder had not taken were added from the table.")
    if not (folder / "recorder.json").exists():
        found.append("The recorder left no summary: it was killed, or the disk was full.")
    if not (folder / "cycle.json").exists():
        found.append("The cycle process left no word: rights and host are not known.")
    for task in loaded.rig.tasks:
        path = folder / f"{task}.npy"
        if not path.exists():
            found.append(f"There is no record of {task}.")
        elif not len(record_of(path)):
            found.append(f"The record of {task} is empty, or cannot be read.")
    return found


def _report(folder: Path, missing: list[str]) -> messages.Report:
    try:
        found = messages.read_report(folder)
        if found is not None:
            msgspec.convert(found.rights, list[Right])
    except (OSError, msgspec.DecodeError, msgspec.ValidationError) as error:
        missing.append(f"cycle.json cannot be read: {error}.")
        found = None
    return found or messages.Report()


def _injections(folder: Path, loaded: LoadedRig) -> Sequence[Injection]:
    """Return the faults that the run was asked to have."""
    asked = _order(folder)
    if asked is None or not asked.inject or find_guard(loaded.rig) is None:
        return ()
    from rigloop.inject.request import again

    return again(asked.inject, loaded.rig, series=bool(asked.series))


def _armed_s(folder: Path, loaded: LoadedRig) -> float:
    """Return how long a guard was running, as far as the record goes; without one, the loop."""
    guards = find_guards(loaded.rig).items()
    found = [0.0]
    for path in [paths(*guard)[1]["state"] for guard in guards] or ["t_ns"]:
        for task in loaded.rig.tasks:
            record = record_of(folder / f"{task}.npy")
            if path in (record.dtype.names or ()):
                state = np.asarray(record[path])
                running = np.flatnonzero(state == (State.RUNNING if guards else state))
                if len(running):
                    span_ns = record["t_ns"][running[-1]] - record["t_ns"][running[0]]
                    found.append(float(span_ns) * 1e-9)
                    break
    return max(found)


def _clean(folder: Path, was: Manifest, tables: list[Path]) -> None:
    """Take away what has been read: the table of a dead run, and what it was to write at its end."""
    for path in [*tables, folder / LAST]:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
    # a table that was being made when its maker died has a second name
    if was.table:
        for path in Path(was.table).parent.glob(f"{Path(was.table).name}.*"):
            if is_orphan(path):
                with contextlib.suppress(OSError):
                    path.unlink()

"""Retention: which run folders go, and their removal; nothing but a run folder is ever touched."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from rig_configs.named_files import KEPT
from rigloop.run_folder.manifest import MANIFEST, ManifestError, read_manifest
from rigloop.run_folder.process_state import boot
from rigloop.runs.found import FoundRun
from rigloop.runs.tags import read_tags

REPORT_S = 60.0  # in which a report is written, on a slow machine too
ENDINGS = (".npy", ".npz", ".json", ".toml", ".html", ".svg", ".log", ".csv", ".orders", ".place")


class Plan(msgspec.Struct, frozen=True):
    """The runs that go, and those that stay, with the reason of each."""

    go: list[FoundRun]
    stay: list[tuple[FoundRun, str]]
    failed: list[tuple[FoundRun, str]] = []
    """Runs that should have gone, and could not be removed."""

    @property
    def bytes(self) -> int:
        """Room on the disk that it gives back."""
        return sum(run.bytes for run in self.go)


def plan_pruning(
    runs: Sequence[FoundRun],
    *,
    keep: int,
    older_than_days: float | None = None,
    now: datetime | None = None,
) -> Plan:
    """Choose what goes: all but the newest, tagged runs, those that go on, and those that hold files of others.

    Parameters
    ----------
    runs : sequence of FoundRun
        Newest first.
    keep : int
        How many of them stay, whatever they are.
    older_than_days : float, optional
        Only runs that began before that go.
    """
    limit = None
    if older_than_days is not None:
        try:
            limit = (now or datetime.now(UTC)) - timedelta(days=older_than_days)
        except OverflowError:  # before the calendar begins
            limit = datetime.min.replace(tzinfo=UTC)
    plan = Plan([], [])
    for place, run in enumerate(runs):
        why = _reason_to_stay(run, place, keep, limit)
        if why:
            plan.stay.append((run, why))
        else:
            plan.go.append(run)
    return plan


def _reason_to_stay(run: FoundRun, place: int, keep: int, limit: datetime | None) -> str:
    if place < keep:
        return f"one of the newest {keep}"
    if run.tags:
        return f"tagged {', '.join(run.tags)}"
    if limit is not None:
        began = _moment(run.started)
        if began is None:
            return "its start cannot be read"
        if began >= limit:
            return "not that old"
    return _reason_in_folder(run)


def _reason_in_folder(run: FoundRun) -> str:
    folder = Path(run.folder)
    try:
        if run.lives and _process_lives(folder):
            return "it goes on"
        if _was_written_just_now(folder) and _process_lives(folder):
            return "it ended just now: its process may still write the report"
        foreign = foreign_files(folder)
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    except ManifestError as error:
        return str(error)
    return f"contains a file that no run writes: {foreign[0]}" if foreign else ""


def _moment(started: str) -> datetime | None:
    try:
        return datetime.strptime(started, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError:
        return None


def _was_written_just_now(folder: Path) -> bool:
    # a supervisor that serves for days outlives its runs
    return time.time() - (folder / MANIFEST).stat().st_mtime < REPORT_S


def _process_lives(folder: Path) -> bool:
    manifest = read_manifest(folder)
    return manifest.boot == boot() and any(p.lives for p in manifest.processes.values())


def foreign_files(folder: Path) -> list[str]:
    """Return what lies in a run folder and is none of its files: folders, links, other endings."""
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                is_ours = entry.name == KEPT
            else:
                is_ours = not entry.is_symlink() and entry.name.endswith(ENDINGS)
            if not is_ours:
                found.append(entry.name)
    return sorted(found)


def carry_out(plan: Plan) -> Plan:
    """Remove the runs that go; return what became of each. One that cannot be removed keeps no other one."""
    done = Plan([], [*plan.stay])
    for run in plan.go:
        try:
            why = remove_run(run)
        except ManifestError as error:
            done.failed.append((run, str(error)))
        else:
            if why:
                done.stay.append((run, why))
            else:
                done.go.append(run)
    return done


def remove_run(run: FoundRun) -> str:
    """Remove a run folder: its manifest last, so that what is left of a removal that was cut short is still one.

    Returns
    -------
    str
        The reason why it stays: somebody tagged it, or put a file into it, since it was found. Empty: it is gone,
        even if another prune was faster.

    Raises
    ------
    ManifestError
        It is no run folder any more, or cannot be removed.
    """
    folder = Path(run.folder)
    if folder.is_symlink():
        raise ManifestError(f"{folder}: is a link, not a run folder")
    try:
        read_manifest(folder)
        if tags := read_tags(folder):
            return f"tagged {', '.join(tags)}"
        if why := _reason_in_folder(run):
            return why
        for path in folder.iterdir():
            if path.name == MANIFEST:
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, onerror=_unless_gone)
            else:
                path.unlink(missing_ok=True)
        (folder / MANIFEST).unlink(missing_ok=True)
        folder.rmdir()
    except FileNotFoundError:
        return ""
    except ManifestError:
        if not os.path.lexists(folder / MANIFEST):
            return ""  # gone meanwhile
        raise
    except OSError as error:
        raise ManifestError(f"{folder}: cannot be removed: {error.strerror}") from None
    return ""


def _unless_gone(_: object, __: str, raised: tuple[type, BaseException, object]) -> None:
    if not isinstance(raised[1], FileNotFoundError):
        raise raised[1]

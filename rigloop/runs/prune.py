"""Retention: which run folders go, and their removal; nothing but a run folder is ever touched."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from rig_configs.named_files import KEPT
from rigloop.run_folder.manifest import MANIFEST, ManifestError, read_manifest
from rigloop.run_folder.process_state import boot
from rigloop.runs.found import FoundRun

ENDINGS = (".npy", ".npz", ".json", ".toml", ".html", ".svg", ".log", ".csv", ".orders", ".place")


class Plan(msgspec.Struct, frozen=True):
    """The runs that go, and those that stay, with the reason of each."""

    go: list[FoundRun]
    stay: list[tuple[FoundRun, str]]

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
        limit = (now or datetime.now(UTC)) - timedelta(days=older_than_days)
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
    folder = Path(run.folder)
    if run.lives and _process_lives(folder):
        return "it goes on"
    foreign = foreign_files(folder)
    return f"contains a file that no run writes: {foreign[0]}" if foreign else ""


def _moment(started: str) -> datetime | None:
    try:
        return datetime.strptime(started, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError:
        return None


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


def remove_run(run: FoundRun) -> None:
    """Remove a run folder: its manifest last, so that what is left of a removal that was cut short is still one.

    Raises
    ------
    ManifestError
        It is no run folder any more, or cannot be removed.
    """
    folder = Path(run.folder)
    if folder.is_symlink():
        raise ManifestError(f"{folder}: is a link, not a run folder")
    read_manifest(folder)
    try:
        for path in folder.iterdir():
            if path.name == MANIFEST:
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        (folder / MANIFEST).unlink()
        folder.rmdir()
    except OSError as error:
        raise ManifestError(f"{folder}: cannot be removed: {error.strerror}") from None

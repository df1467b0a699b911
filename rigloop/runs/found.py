"""The run folders below a folder: what each is, and its size on the disk."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from rigloop.run_folder.manifest import MANIFEST, Manifest, ManifestError, read_manifest
from rigloop.run_folder.process_state import boot
from rigloop.runs.tags import read_tags


class FoundRun(msgspec.Struct, frozen=True):
    """A run folder in a list."""

    folder: str
    started: str
    """UTC, ISO 8601."""
    kind: str
    rig: str
    duration_s: float
    verdict: str
    state: str
    tags: tuple[str, ...]
    bytes: int
    reasons: tuple[str, ...] = ()

    @property
    def lives(self) -> bool:
        """True: it says that it goes on; it may have been killed."""
        return self.state in ("starting", "running")


class Unreadable(msgspec.Struct, frozen=True):
    """A folder whose manifest cannot be read."""

    folder: str
    why: str


def find_runs(base: Path) -> tuple[list[FoundRun], list[Unreadable]]:
    """Return the runs of a folder, newest first, and the folders that look like one and cannot be read.

    A link is not followed: what it names belongs to somebody else.

    Raises
    ------
    ManifestError
        There is no such folder.
    """
    try:
        with os.scandir(base) as entries:
            folders = [Path(e.path) for e in entries if e.is_dir(follow_symlinks=False)]
    except OSError as error:
        raise ManifestError(
            f"{base}: cannot be read: {error.strerror}; give a folder of runs"
        ) from None
    runs: list[FoundRun] = []
    unreadable: list[Unreadable] = []
    for folder in folders:
        try:
            (folder / MANIFEST).lstat()
            runs.append(found_run(folder, read_manifest(folder)))
        except FileNotFoundError:
            continue
        except ManifestError as error:
            if os.path.lexists(folder / MANIFEST):  # otherwise somebody removed it meanwhile
                unreadable.append(Unreadable(str(folder), str(error)))
        except OSError as error:
            unreadable.append(
                Unreadable(str(folder), f"{folder}: cannot be read: {error.strerror}")
            )
    runs.sort(key=lambda run: (run.started, run.folder), reverse=True)
    return runs, unreadable


def found_run(folder: Path, manifest: Manifest) -> FoundRun:
    """Return a run folder as it stands in a list; a replay whose process has gone is one that was interrupted."""
    state: str = manifest.state
    lives = any(process.lives for process in manifest.processes.values())
    if manifest.kind == "replay" and state == "running" and not (lives and manifest.boot == boot()):
        state = "interrupted"
    return FoundRun(
        str(folder),
        manifest.started,
        manifest.kind,
        manifest.rig.name,
        manifest.duration_s,
        manifest.verdict,
        state,
        read_tags(folder),
        size_of(folder),
        manifest.reasons,
    )


def size_of(folder: Path) -> int:
    """Return the bytes of the files of a folder; links count nothing."""
    total = 0
    for where, _, names in os.walk(folder, followlinks=False):
        for name in names:
            try:
                total += os.lstat(os.path.join(where, name)).st_size
            except OSError:
                continue  # a run that goes on takes files away
    return total

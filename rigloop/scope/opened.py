"""The run that a scope is asked for: by its folder, by the name of its rig, or the newest one that goes on."""

from __future__ import annotations

from pathlib import Path

from rigloop.api.recorded_run import RecordedRun
from rigloop.api.watched import Watched
from rigloop.fieldbus.running import tables
from rigloop.run_folder.manifest import MANIFEST, ManifestError
from rigloop.scope.setup import SetupError
from rigloop.scope.sources import Opened
from rt_core.signals.layout import TableError


def open_any(of: str) -> Opened:
    """Return a run that goes on, where there is one; a recorded one, of a folder.

    Parameters
    ----------
    of : str
        Folder of a run; name of a rig, or path of its file; "": the newest run that goes on.

    Raises
    ------
    SetupError
        There is no such run.
    ManifestError
        The folder cannot be read.
    """
    folder = Path(of) if of and (Path(of) / MANIFEST).exists() else None
    stem = Path(of).stem if of.endswith(".toml") else of
    for _, table in tables():
        try:
            watched = Watched(table)
        except (OSError, TableError):
            continue
        try:
            is_meant = _is_meant(watched, folder, stem)
        except ManifestError:
            is_meant = False  # its folder is out of reach, as that of a run in another container
        if is_meant:
            return watched
        watched.close()
    if folder is not None:
        return RecordedRun(folder)
    if of and Path(of).is_dir():
        raise SetupError(f"{of}: no folder of a run: it has no {MANIFEST}")
    which = f"no run of {of} goes on" if of else "you have no active run"
    raise SetupError(f"{which}; start one with `rigloop run`, or give the folder of a run")


def _is_meant(watched: Watched, folder: Path | None, name: str) -> bool:
    if not watched.lives:
        return False
    if folder is not None:
        return watched.folder == folder.absolute()
    return not name or watched.name == name


def usual_signals(opened: Opened) -> tuple[str, ...]:
    """Return the signals that a run shows."""
    if isinstance(opened, RecordedRun):
        return tuple(dict.fromkeys(path for _, path in opened.manifest.signals.values()))
    from rigloop.compose.shown import shown_roles

    return tuple(dict.fromkeys(shown_roles(opened.loaded.rig).values()))

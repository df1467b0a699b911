"""The folders of runs: one each, never written over."""

from __future__ import annotations

import time
from pathlib import Path

from rig_configs.plain import file_name
from rigloop.run_folder.not_started import NotStartedError


def new_run_folder(base: Path, rig: str) -> Path:
    """Create and return `base/<UTC time>-<rig>`, with a number behind it if it is taken.

    The rig's name is written as one for a folder, whatever is in it.

    Raises
    ------
    NotStartedError
        The folder cannot be made; the message names it.
    """
    try:
        return _made(base, rig)
    except OSError as error:
        raise NotStartedError(
            f"{base}: no run folder can be made: {error.strerror or error}; give --runs"
        ) from None


def _made(base: Path, rig: str) -> Path:
    name = file_name(rig, "rig")
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    for attempt in range(1000):
        folder = base / (f"{stamp}-{name}" + (f"-{attempt}" if attempt else ""))
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        return folder
    raise OSError("no name is free, tidy it up")

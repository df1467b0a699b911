"""Room on the disk, taken at the start of a run, so that its verdict can be written at its end."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from rigloop.run_folder.not_started import NotStartedError

RESERVE = "reserved.room"
RESERVED_BYTES = 6 << 20  # manifest, histograms, late cycles, report; some 2 MB of a long run


def reserve(folder: Path) -> None:
    """Take the room.

    Raises
    ------
    NotStartedError
        It is not there.
    """
    try:
        file = os.open(folder / RESERVE, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            os.posix_fallocate(file, 0, RESERVED_BYTES)
        finally:
            os.close(file)
    except OSError as error:
        give_back(folder)
        raise NotStartedError(
            f"{folder}: no room for a run's verdict, {RESERVED_BYTES >> 20} MiB: {error.strerror}; "
            "free some, or give --runs on another disk"
        ) from None


def give_back(folder: Path) -> None:
    """Give the room back, to write what it was kept for."""
    with contextlib.suppress(OSError):
        (folder / RESERVE).unlink(missing_ok=True)

"""A file that is written as a whole: whoever reads it meanwhile finds the old one or the new one, never a part."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(
    path: Path, content: bytes, *, lasting: bool = False, mode: int | None = None
) -> Path:
    """Write a file, all of it or nothing; return its path.

    Parameters
    ----------
    path : Path
    content : bytes
    lasting : bool
        It is on the disk when this returns, its name too, and outlives a power cut.
    mode : int, optional
        Its permissions, whatever the umask says.

    Raises
    ------
    OSError
        It cannot be written; what was there before is there still.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with part.open("wb") as file:
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            file.write(content)
            if lasting:
                file.flush()
                os.fsync(file.fileno())
        part.replace(path)
        if lasting:
            _sync_folder(path.parent)
    finally:
        part.unlink(missing_ok=True)
    return path


def _sync_folder(folder: Path) -> None:
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(file)
    finally:
        os.close(file)

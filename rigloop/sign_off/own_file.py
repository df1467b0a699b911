"""Files beside a rig that decide on its torque: read only where no stranger could have put them there."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from rig_configs.bounded import open_regular

MOST_BYTES = 1 << 20
MODE = 0o644
"""Others may read such a file; only its owner writes."""


class ForeignError(ValueError):
    """Somebody else could have put the file there: says how."""


def read_own(path: Path) -> bytes:
    """Return the content of a file of this user, of root, or of whoever has its folder.

    Raises
    ------
    OSError
        It cannot be read, or is larger than any such file.
    ForeignError
        It is a link, others may write to it, or it is of somebody else.
    """
    with open_regular(path) as file:
        if problem := _foreign(path, os.fstat(file.fileno())):
            raise ForeignError(f"{path}: {problem}: it signs nothing")
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise OSError(errno.EFBIG, f"is larger than {MOST_BYTES} bytes", str(path))
    return content


def _foreign(path: Path, found: os.stat_result) -> str:
    if path.is_symlink():
        return "is a link"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"others may write to it (mode {stat.S_IMODE(found.st_mode):04o}; chmod go-w it)"
    # who has the folder may put there what he likes
    if found.st_uid not in {0, os.geteuid(), path.parent.stat().st_uid}:
        return f"belongs to user {found.st_uid}, who is not you, and has not its folder"
    return ""

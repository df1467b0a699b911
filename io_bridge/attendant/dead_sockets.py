"""Sockets of mailbox services that were killed: taken out of the memory where nobody can listen on them any more.

A service in a network namespace of its own has a name of its own, which no later run meets again. One that listens,
of another user, or that has only just been made, stays.
"""

from __future__ import annotations

import errno
import os
import re
import socket
import stat
import time
from pathlib import Path

FOLDER = Path("/dev/shm")
"""Services have their sockets there."""
SETTLED_S = 10.0
"""A socket is refused, too, between its making and its first listening."""


def clear_dead_sockets(folder: Path = FOLDER) -> list[Path]:
    """Remove the sockets of this user's dead services; return them. Sockets know no network namespace, so one that is
    listened to in another namespace or container is heard from here."""
    name = re.compile(rf"rigloop-{os.getuid()}-mailbox-\d+-[^/]+")
    cleared = []
    for path in sorted(folder.glob(f"rigloop-{os.getuid()}-mailbox-*")):
        try:
            if name.fullmatch(path.name) and _is_dead(path):
                path.unlink()
                cleared.append(path)
        except OSError:
            # another process was quicker, or it is not ours to remove
            continue
    return cleared


def _is_dead(path: Path) -> bool:
    found = path.lstat()
    if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.getuid():
        return False
    if abs(time.time() - found.st_mtime) < SETTLED_S:
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        # one whose queue is full makes others wait, and lives
        probe.setblocking(False)
        return probe.connect_ex(str(path)) == errno.ECONNREFUSED

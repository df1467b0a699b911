"""The run of this user that runs now, from outside: its table, its folder, and where it serves what happened."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from io_bridge.attendant import mailbox_service
from io_bridge.bus_events import BusEvent
from rigloop.run_folder.tables import FOLDER, supervisor_of

LOG = "cycle.log"


def tables() -> Iterator[tuple[int, Path]]:
    """Yield supervisor and signal table of each run that runs, the newest first; what a killed one left is passed
    over."""
    found = sorted(
        FOLDER.glob(f"rigloop-{os.getuid()}-[0-9]*"),
        key=lambda path: path.stat().st_mtime if path.exists() else 0.0,
        reverse=True,
    )
    for path in found:
        supervisor = supervisor_of(path)
        if supervisor is not None and supervisor.lives:
            yield supervisor.pid, path


def folder_of(supervisor: int) -> Path | None:
    """Return the run folder: its cycle process writes its log there."""
    for pid in _processes():
        if _parent(pid) != supervisor:
            continue
        try:
            log = Path(os.readlink(f"/proc/{pid}/fd/1"))
        except OSError:
            continue
        if log.name == LOG:
            return log.parent
    return None


def events_of(supervisor: int) -> list[BusEvent]:
    """Ask the loop of a supervisor what happened on its bus; nothing where it cannot be asked."""
    for path in mailbox_service.FOLDER.glob(f"rigloop-{os.getuid()}-mailbox-*"):
        server = mailbox_service.server_of(path)
        if server is None or supervisor not in _ancestors(server):
            continue
        try:
            return list(mailbox_service.ask_events(path))
        except OSError:
            return []
    return []


def _processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def _ancestors(pid: int) -> list[int]:
    found = [pid]
    while (parent := _parent(found[-1])) and parent not in found:
        found.append(parent)
    return found


def _parent(pid: int) -> int | None:
    """Return the parent of a process, None when there is no such process, or it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in ("Z", "X") else int(fields[1])

"""The signal tables in memory: their places, their owners, and those that nobody owns any more.

The name says whose run it is: user, process and start of the supervisor. The cycle process holds a lock on the file
from its first moment on, the supervisor since it has found it; the kernel takes a lock back whatever kills its owner:
also across containers that share `/dev/shm` and count processes each for itself.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec

from rig_configs.bounded import read_bytes
from rig_configs.json_message import decode
from rigloop.run_folder.process_state import Process
from rt_core.signals.layout import TableError, run_of
from rt_core.signals.table import SignalTable

FOLDER = Path("/dev/shm")
KEPT = "signal_table"
"""The table of a run that was killed, in its run folder."""
NAME = re.compile(r"rigloop-(\d+)-(\d+)-(\d+)(\.\d+)?")


def table_path() -> str:
    """Return where the signal table of this process's run is."""
    return table_of(Process.of(os.getpid()))


def table_of(supervisor: Process) -> str:
    """Return where the signal table of a supervisor's run is, once there is one."""
    return f"{FOLDER}/rigloop-{os.getuid()}-{supervisor.pid}-{supervisor.start_ticks}"


def supervisor_of(path: Path) -> Process | None:
    """Return the process that a table is named after, None if the name is no table's."""
    found = NAME.fullmatch(path.name)
    return Process(int(found[2]), int(found[3])) if found else None


@contextlib.contextmanager
def held(path: str) -> Iterator[None]:
    """Own a table as long as the context, or this process, lasts."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        # gone already: there is nothing left to own
        yield
        return
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        yield
    finally:
        os.close(file)


@contextlib.contextmanager
def claimed(path: str | Path) -> Iterator[bool]:
    """Yield whether a table is there, one's own, and all of its owners have died; meanwhile nobody else can own it."""
    path = Path(path)
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        yield False
        return
    try:
        yield _is_claimed(path, file)
    finally:
        os.close(file)


def _is_claimed(path: Path, file: int) -> bool:
    found = os.fstat(file)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
        return False
    match = NAME.fullmatch(path.name)
    if match and Process(int(match[2]), int(match[3])).lives:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # another one may have cleared it away, and a run have made its own under this name
        return os.path.samestat(found, os.lstat(path))
    except OSError:
        return False


def is_orphan(path: str | Path) -> bool:
    """Decide if a table is there, one's own, and all of its owners have died."""
    with claimed(path) as orphaned:
        return orphaned


def is_owned(path: str | Path) -> bool:
    """Decide if somebody holds a table, in whatever container."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(file)
    return False


def clear_orphans() -> list[Path]:
    """Take the tables of dead runs out of the memory; return them.

    The newest signals, histograms and late cycles of a run that was killed are nowhere else: its table moves into its
    run folder, if that is still there, where `rigloop report` reads it.
    """
    cleared = []
    for path in sorted(FOLDER.glob(f"rigloop-{os.getuid()}-*")):
        if not NAME.fullmatch(path.name):
            continue
        with claimed(path) as orphaned:
            if orphaned and is_settled(path):
                cleared.append(path)
    return cleared


def is_settled(path: Path) -> bool:
    """Move a table into the run folder that it names, or remove it; False: it has to stay where it is."""
    try:
        with SignalTable.attach(path) as table:
            folder = Path(run_of(table.layout) or os.devnull)
    except (TableError, OSError):
        # half made, or of another version: no run can ever be told of it
        folder = Path(os.devnull)
    try:
        if _names(folder, path):
            kept = folder / KEPT
            part = folder / f".{KEPT}.part"
            with contextlib.suppress(OSError):
                part.unlink()
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with path.open("rb") as source, os.fdopen(descriptor, "wb") as copy:
                shutil.copyfileobj(source, copy)
            part.replace(kept)
        path.unlink()
    except OSError:
        return False
    return True


def _names(folder: Path, table: Path) -> bool:
    # the folder has to say so itself: a name in a file of /dev/shm leads nowhere else
    try:
        order = decode(read_bytes(folder / "order.json"))
    except (OSError, msgspec.DecodeError):
        return False
    return isinstance(order, dict) and order.get("table") == str(table)

"""A folder in the cache in which something is being built, and the end of those whose builder was killed.

The builder holds a lock on its folder, which the kernel takes back whatever ends the builder: also across containers
that share a home and count processes each for itself.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

PREFIX = "building-"


@contextlib.contextmanager
def building(cache: Path) -> Iterator[Path]:
    """Yield an empty folder in a cache, for the time of a build; what nobody builds in any more is removed first.

    Parameters
    ----------
    cache : Path
        A folder of the user alone, as `codegen.kernels.cache.open_cache` returns it.
    """
    clear_abandoned(cache)
    work, held = _own_folder(cache)
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)
        os.close(held)


def clear_abandoned(cache: Path) -> list[Path]:
    """Remove the folders of builds that nobody goes on with; return them."""
    cleared = []
    for work in sorted(cache.glob(f"{PREFIX}*")):
        try:
            folder = _opened(work)
        except OSError:
            # a link, a file, or gone already
            continue
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # under the lock: who has just made it waits, and then makes another one
            shutil.rmtree(work)
            cleared.append(work)
        except OSError:
            # somebody builds there, or the file system knows no locks
            continue
        finally:
            os.close(folder)
    return cleared


def _opened(folder: Path) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)


def _own_folder(cache: Path) -> tuple[Path, int]:
    while True:
        work = Path(tempfile.mkdtemp(prefix=PREFIX, dir=cache))
        try:
            held = _opened(work)
        except FileNotFoundError:
            continue
        with contextlib.suppress(OSError):
            fcntl.flock(held, fcntl.LOCK_SH)
        if work.is_dir():
            return work, held
        # cleared away before it was locked
        os.close(held)

"""The kernel cache: a folder of the user alone; its binaries are checked to be the built ones.

A kernel is loaded into the process that holds real-time rights, so a folder that someone else can write
to, a link into one, or a file that changed since it was built is refused in words, never used in silence.
"""

from __future__ import annotations

import grp
import hashlib
import json
import os
import pwd
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rig_configs.own_folder import own_folder
from rt_core.settings import Refusal

BUILT = "build.json"
OTHERS = stat.S_IWGRP | stat.S_IWOTH
MOST_BUILT_BYTES = 1 << 20
OWN_FOLDER = "set XDG_CACHE_HOME to a folder of yours"
REMEDY = f"remove it (kernels are built again), or {OWN_FOLDER}"


class CacheError(Refusal):
    """The cache cannot be used; the problem names folder and reason."""


def cache_folder() -> Path:
    """Return the folder of built kernels: `$XDG_CACHE_HOME/rigloop/kernels`, else below `~/.cache`.

    Raises
    ------
    CacheError
        There is neither such a variable nor a home.
    """
    base = own_folder("XDG_CACHE_HOME", ".cache")
    if base is None:
        raise CacheError("no place for built kernels", OWN_FOLDER)
    return base / "rigloop" / "kernels"


def open_cache(kind: str = "kernels") -> Path:
    """The cache folder, or another `kind` beside it, made where it is not there, and the user's alone.

    Raises
    ------
    CacheError
        It cannot be made or written, or somebody else could write into it.
    """
    folder = cache_folder().with_name(kind)
    try:
        folder.parent.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for own in (folder.parent, folder):
            own.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise CacheError(
            f"{folder}: no kernel can be kept there: {error.strerror}", OWN_FOLDER
        ) from None
    _require_safe_way(folder.parent.parent)
    for own in (folder.parent, folder):
        require_own(own, is_folder=True)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise CacheError(f"{folder}: cannot be written", OWN_FOLDER)
    return folder


def require_own(path: Path, *, is_folder: bool = False) -> None:
    """Refuse a path that is a link, is not the user's, or can be written by others.

    Raises
    ------
    CacheError
    """
    try:
        found = path.lstat()
    except OSError as error:
        raise CacheError(f"{path}: {error.strerror}", REMEDY) from None
    if stat.S_ISLNK(found.st_mode):
        raise CacheError(f"{path}: is a link, and is not followed", REMEDY)
    wanted = stat.S_ISDIR if is_folder else stat.S_ISREG
    if not wanted(found.st_mode):
        raise CacheError(f"{path}: is no {'folder' if is_folder else 'regular file'}", REMEDY)
    if found.st_uid != os.geteuid():
        raise CacheError(
            f"{path}: belongs to {_user(found.st_uid)}, not to {_user(os.geteuid())}", REMEDY
        )
    if found.st_mode & OTHERS:
        raise CacheError(
            f"{path}: others may write to it (mode {stat.S_IMODE(found.st_mode):04o})", REMEDY
        )


def seal(folder: Path, files: Iterable[str], facts: dict[str, Any]) -> None:
    """Write `build.json`: facts of a build, and the hashes of the files that will be loaded. Whatever
    the user's umask is, nobody else may write to any of them.
    """
    hashes = {name: _sha256(folder / name) for name in files}
    text = json.dumps(facts | {"files": hashes}, indent=1) + "\n"
    (folder / BUILT).write_text(text)
    for file in folder.iterdir():
        file.chmod(stat.S_IMODE(file.stat().st_mode) & ~OTHERS)


def open_entry(folder: Path) -> dict[str, Any] | None:
    """Facts of a build whose files are unchanged since it was sealed; None where there is no such build.

    Raises
    ------
    CacheError
        The folder or a file is not the user's alone, or a file is another one now.
    """
    if not folder.is_symlink() and not (folder / BUILT).exists():
        return None
    require_own(folder, is_folder=True)
    require_own(folder / BUILT)
    try:
        with (folder / BUILT).open("rb") as file:
            facts = json.loads(file.read(MOST_BUILT_BYTES))
        hashes = dict(facts.pop("files"))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise CacheError(f"{folder / BUILT}: does not say what was built", REMEDY) from None
    for name, wanted in hashes.items():
        if Path(name).name != name:
            raise CacheError(f"{folder / BUILT}: names a file elsewhere", REMEDY)
        require_own(folder / name)
        if _sha256(folder / name) != wanted:
            raise CacheError(f"{folder / name}: is not the file that was built", REMEDY)
    return facts


def _require_safe_way(base: Path) -> None:
    """Refuse a way to the cache on which somebody else could put another folder in its place."""
    resolved = base.resolve()
    for place in (resolved, *resolved.parents):
        found = place.stat()
        sticky = bool(found.st_mode & stat.S_ISVTX)
        if found.st_uid not in (0, os.geteuid()) and not _is_unmapped(found.st_uid):
            raise CacheError(
                f"{base}: {place} on its way belongs to {_user(found.st_uid)}", OWN_FOLDER
            )
        open_to_all = found.st_mode & stat.S_IWOTH
        open_to_group = found.st_mode & stat.S_IWGRP and not _is_private(found.st_gid)
        if (open_to_all or open_to_group) and not sticky:
            raise CacheError(
                f"{base}: others may write to {place} on its way (mode {stat.S_IMODE(found.st_mode):04o})",
                OWN_FOLDER,
            )


def _is_private(gid: int) -> bool:
    """Return whether a group is root's or has only the user in it; many systems give each user such a group."""
    if gid == 0:
        return True
    try:
        me, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(gid)
    except KeyError:
        return False
    return group.gr_name == me.pw_name and set(group.gr_mem) <= {me.pw_name}


def _is_unmapped(uid: int) -> bool:
    """Return whether an owner has no name in this namespace, like root of the host seen from a container."""
    try:
        overflow = int(Path("/proc/sys/kernel/overflowuid").read_text())
        mapped = Path("/proc/self/uid_map").read_text().split()
    except (OSError, ValueError):
        return False
    return uid == overflow and mapped[:3] != ["0", "0", "4294967295"]


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

"""The code that may run here: a file of the user alone, with the hash of each block that was trusted.

Blocks that ship are trusted by their place. Everything else is compiled and loaded only after somebody has
said so for exactly these bytes of declaration and source; one changed byte is another block.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path

from rig_configs.bounded import open_regular
from rig_configs.own_folder import own_folder
from rigloop.blocks.compiled.declared import Declared, read_declared

LIBRARY = Path(__file__).parents[1] / "library"
HASH = re.compile(r"[0-9a-f]{64}")
MOST_BYTES = 1 << 20


class TrustError(RuntimeError):
    """The record of trust cannot be used; the message has file, reason and remedy."""


class NotTrustedError(RuntimeError):
    """Blocks whose code nobody has trusted on this machine; a line each."""

    def __init__(self, blocks: Sequence[Declared]):
        self.blocks = tuple(blocks)
        super().__init__(
            "\n".join(
                f"block {declared.name} ({declared.path}): its code has not been trusted here; read "
                f"{declared.source_path.name}, then run again with --trust (hash {declared.hash})"
                for declared in blocks
            )
        )


def record_path() -> Path:
    """Return where trust is kept: `$XDG_CONFIG_HOME/rigloop/trusted_blocks`, else below `~/.config`.

    Raises
    ------
    TrustError
        There is neither such a variable nor a home.
    """
    base = own_folder("XDG_CONFIG_HOME", ".config")
    if base is None:
        raise TrustError(
            "no place for the record of trust: set XDG_CONFIG_HOME to a folder of yours"
        )
    return base / "rigloop" / "trusted_blocks"


def is_shipped(declared: Declared) -> bool:
    """Decide if a block is one of the library of this package, source and all."""
    place = declared.path.resolve()
    # beside a link to a declaration that ships lies a source that does not
    return place.is_relative_to(LIBRARY.resolve()) and read_declared(place).hash == declared.hash


def is_trusted(declared: Declared) -> bool:
    """Decide if the code of a block may be compiled and loaded.

    Raises
    ------
    TrustError
        Somebody else could have written the record.
    """
    return is_shipped(declared) or declared.hash in trusted()


def trusted() -> set[str]:
    """Hashes that were trusted; none where there is no record.

    Raises
    ------
    TrustError
        The record is not the user's alone, or holds something else.
    """
    path = record_path()
    if not os.path.lexists(path):
        return set()
    _require_private(path.parent, is_folder=True)
    _require_private(path)
    with open_regular(path) as file:
        raw = file.read(MOST_BYTES + 1)
    words = raw.decode("ascii", errors="replace").split()
    if len(raw) > MOST_BYTES or not all(HASH.fullmatch(word) for word in words):
        raise TrustError(f"{path}: is not a list of hashes, one a line; remove it and trust again")
    return set(words)


def trust(hash: str) -> None:
    """Remember that the code with this hash may run here.

    Raises
    ------
    ValueError
        It is no hash.
    TrustError
        The record cannot be written, or somebody else could have written it.
    """
    if not HASH.fullmatch(hash):
        raise ValueError(f"{hash!r} is not the hash of a block: 64 hexadecimal digits")
    if hash in trusted():
        return
    path = record_path()
    try:
        path.parent.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        _require_private(path.parent, is_folder=True)
        flags = (
            os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        )
        descriptor = os.open(path, flags, 0o600)
        try:
            # whole lines, whoever else appends at the same time
            os.write(descriptor, f"\n{hash}\n".encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise TrustError(f"{path}: cannot be written: {error.strerror}") from None


def _require_private(path: Path, *, is_folder: bool = False) -> None:
    found = path.lstat()
    remedy = "remove it and trust again"
    if stat.S_ISLNK(found.st_mode):
        raise TrustError(f"{path}: is a link, and is not followed; {remedy}")
    wanted = stat.S_ISDIR if is_folder else stat.S_ISREG
    if not wanted(found.st_mode):
        raise TrustError(f"{path}: is not a {'folder' if is_folder else 'regular file'}; {remedy}")
    if found.st_uid != os.geteuid():
        raise TrustError(f"{path}: belongs to user {found.st_uid}; {remedy}")
    # a folder may be read by others, and the record too; nobody else may write to either
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        mode = stat.S_IMODE(found.st_mode)
        raise TrustError(f"{path}: others may write to it (mode {mode:04o}); chmod go-w it")

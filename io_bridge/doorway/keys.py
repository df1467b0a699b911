"""CURVE keys of this user: a pair of its own, and the public keys of those who may come in over TCP."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import zmq

from io_bridge.doorway.local_socket import DoorError, private_folder

OWN = "own.key"
AUTHORISED = "authorised"
ENDING = ".public"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
LENGTH = 40  # of a key in Z85
LOCAL = "local"
"""A client without a key, in journals."""
Z85 = re.compile(r"[0-9a-zA-Z.\-:+=^!/*?&<>()\[\]{}@%$#]{40}")


class KeyFileError(DoorError):
    """A key that is missing, wrong, or open to others."""


@dataclass(frozen=True)
class Pair:
    """A key pair in Z85."""

    public: str
    secret: str

    def __repr__(self) -> str:
        return f"Pair({self.public})"


def key_folder() -> Path:
    """Return where the keys of this user are."""
    given = os.environ.get("XDG_CONFIG_HOME", "")
    base = Path(given) if given.startswith("/") else Path.home() / ".config"
    return base / "rigloop" / "keys"


def new_pair(folder: Path) -> Pair:
    """Make a pair of one's own, and keep it for the owner only.

    Raises
    ------
    KeyFileError
        There is one already.
    """
    private_folder(folder)
    public, secret = (key.decode() for key in zmq.curve_keypair())
    try:
        file = os.open(folder / OWN, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise KeyFileError(
            f"{folder / OWN}: is there already; move it away for a new one, which every partner has to authorise again"
        ) from None
    with os.fdopen(file, "w") as stream:
        stream.write(f"public {public}\nsecret {secret}\n")
    return Pair(public, secret)


def own_pair(folder: Path) -> Pair:
    """Return one's own pair.

    Raises
    ------
    KeyFileError
        There is none, it is open to others, or it is no pair.
    """
    path = folder / OWN
    found = re.fullmatch(r"public (\S+)\nsecret (\S+)\n", _read(path, secret=True))
    if found is None or not (Z85.fullmatch(found[1]) and Z85.fullmatch(found[2])):
        raise KeyFileError(f"{path}: holds no key pair; move it away, and `rigloop keys new`")
    if zmq.curve_public(found[2].encode()).decode() != found[1]:
        raise KeyFileError(f"{path}: its two keys are no pair; `rigloop keys new`")
    return Pair(found[1], found[2])


def authorise(folder: Path, name: str, public: str) -> Path:
    """Keep the public key of somebody who may come in, or of a service that may be asked.

    Raises
    ------
    KeyFileError
        It is no name, no key, or there is such a name.
    """
    if not NAME.fullmatch(name):
        raise KeyFileError(f"{name!r}: a key is named with letters, digits, '-', '_' and '.'")
    if name == LOCAL:
        raise KeyFileError(f"{name}: journals name clients of the local socket so; give another")
    if not Z85.fullmatch(public):
        raise KeyFileError(f"{public!r}: a public key has {LENGTH} characters of Z85")
    known = authorised(folder)
    if name in known or public in known.values():
        raise KeyFileError(f"{name}: the name or the key is there already: `rigloop keys list`")
    path = private_folder(folder / AUTHORISED) / f"{name}{ENDING}"
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(file, "w") as stream:
        stream.write(f"{public}\n")
    return path


def revoke(folder: Path, name: str) -> None:
    """Forget a public key; a service that runs lets its owner in no more.

    Raises
    ------
    KeyFileError
        There is no such name.
    """
    if name not in authorised(folder):
        raise KeyFileError(f"{name}: no such key: `rigloop keys list`")
    (folder / AUTHORISED / f"{name}{ENDING}").unlink()


def authorised(folder: Path) -> Mapping[str, str]:
    """Return the public keys by name; a file that holds none is left out.

    Raises
    ------
    KeyFileError
        Others may write them.
    """
    place = folder / AUTHORISED
    if not place.is_dir():
        return {}
    private_folder(place)
    found = {}
    for path in sorted(place.glob(f"*{ENDING}")):
        text = _read(path, secret=False).strip()
        if Z85.fullmatch(text):
            found[path.name.removesuffix(ENDING)] = text
    return found


def _read(path: Path, *, secret: bool) -> str:
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        raise KeyFileError(f"{path}: there is no key; `rigloop keys new` makes one") from None
    except OSError as error:
        raise KeyFileError(f"{path}: {error.strerror}") from None
    with os.fdopen(file, "rb") as stream:
        state = os.fstat(stream.fileno())
        open_to = 0o077 if secret else 0o022
        if (
            not stat.S_ISREG(state.st_mode)
            or state.st_uid != os.getuid()
            or state.st_mode & open_to
        ):
            raise KeyFileError(f"{path}: is open to others; chmod 600 {path}")
        return stream.read(1000).decode("ascii", "replace")

"""The place of a long replay that is not done: a file in its run folder, from which the next process goes on.

States of blocks are put back as bytes, so a file of somebody else's making is never taken: it is signed with a key that
only its user has. A file that was cut or damaged has no good signature either.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from codegen.kernels.cache import open_cache
from rig_configs.bounded import open_regular
from rig_configs.whole_file import write_whole
from rigloop.run_folder.manifest import ManifestError

PLACE = "unfinished.place"
MOST_BYTES = 1 << 30
SIGNED = 32  # bytes of a signature, and of the key
ARRAY = 1  # code of an array among plain data

Place = dict[str, Any]


def packed(place: Place) -> bytes:
    """Return the bytes of a place, as it is now."""
    return msgspec.msgpack.encode(place, enc_hook=_packed)


def unpacked(raw: bytes) -> Place:
    """Return the place whose bytes these are."""
    found: Place = msgspec.msgpack.decode(raw, ext_hook=_unpacked)
    return found


def write_place(folder: Path, place: bytes, seen: bytes) -> None:
    """Write the place of a replay, all of it or nothing.

    Parameters
    ----------
    place : bytes
        Of `packed`.
    seen : bytes
        Hash of the cycles that came behind it.
    """
    content = msgspec.msgpack.encode((place, seen))
    write_whole(folder / PLACE, _signature(content) + content, mode=0o600)


def read_place(folder: Path) -> tuple[Place, bytes]:
    """Read the place of a replay, and the hash of the cycles behind it.

    Raises
    ------
    ManifestError
        There is none, or it was not written by this user on this machine.
    """
    path = folder / PLACE
    try:
        with open_regular(path) as file:
            raw = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise ManifestError(
            f"{folder}: no position was saved there ({PLACE}); replay the log again"
        ) from None
    except OSError as error:
        raise ManifestError(f"{path}: cannot be read: {error.strerror}") from None
    signature, content = raw[:SIGNED], raw[SIGNED:]
    if len(raw) > MOST_BYTES or not hmac.compare_digest(signature, _signature(content)):
        raise ManifestError(
            f"{path}: was not written by this user on this machine, or is damaged; replay the log again"
        )
    place, seen = msgspec.msgpack.decode(content)
    return unpacked(place), seen


def log_facts(path: Path) -> dict[str, Any]:
    """Return where a log is, and what tells that it is still the same."""
    found = path.stat()
    return {"path": str(path.resolve()), "bytes": found.st_size, "mtime_ns": found.st_mtime_ns}


def same_log(folder: Path, place: Place) -> Path:
    """Return the log of a place.

    Raises
    ------
    ManifestError
        It is gone, or another one is there.
    """
    path = Path(place["log"]["path"])
    if not path.is_file():
        raise ManifestError(f"{folder}: its log {path} is missing; put it back")
    if log_facts(path) != place["log"]:
        raise ManifestError(
            f"{folder}: its log {path} was changed since the replay was stopped; replay it again"
        )
    return path


def remove_place(folder: Path) -> None:
    """Take away the place of a replay that is done, and what a killed process left of one."""
    for path in (folder / PLACE, *folder.glob(f".{PLACE}.*")):
        path.unlink(missing_ok=True)


def stopped_replay(log: Path, runs: Path) -> Path:
    """Return the newest run folder with a replay of a log that is not done.

    Raises
    ------
    ManifestError
        There is none.
    """
    wanted = str(log.resolve())
    for folder in sorted(runs.glob(f"*/{PLACE}"), reverse=True):
        try:
            place, _ = read_place(folder.parent)
        except ManifestError:
            continue
        if place["log"]["path"] == wanted:
            return folder.parent
    raise ManifestError(
        f"{runs}: no replay of {log} there can be resumed; give the folder of one, or --runs"
    )


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Hold a run folder while a process steps its replay; the lock ends with the process, however that ends.

    Raises
    ------
    ManifestError
        Another process does.
    """
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ManifestError(
                f"{folder}: this replay is still running in another process"
            ) from None
        yield
    finally:
        os.close(held)


def _signature(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=SIGNED, key=_key()).digest()


def _key() -> bytes:
    path = open_cache("replays") / "key"
    if not path.exists():
        write_whole(path, secrets.token_bytes(SIGNED), mode=0o600)
    return path.read_bytes()


def _packed(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        array = np.ascontiguousarray(value)
        head = msgspec.msgpack.encode((array.dtype.str, array.shape))
        return msgspec.msgpack.Ext(ARRAY, bytes([len(head)]) + head + array.tobytes())
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} has no place in a place")


def _unpacked(code: int, raw: memoryview) -> Any:
    if code != ARRAY:
        raise ValueError(f"code {code}")
    n = raw[0] + 1
    dtype, shape = msgspec.msgpack.decode(bytes(raw[1:n]))
    return np.frombuffer(bytes(raw[n:]), dtype).reshape(shape).copy()

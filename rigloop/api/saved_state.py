"""The bytes of a saved state: one line that says whose it is, the state, and a checksum. Nothing of it is code."""

from __future__ import annotations

import hashlib

import msgspec

MAGIC = b"rigloop state 1 "
MOST_HEAD_BYTES = 4096
CHECKSUM_BYTES = 32  # SHA-256
MOST_CYCLES = 1 << 53


class StateError(ValueError):
    """Bytes that are no state of this kernel; the message says why, and what to do."""


class _Head(msgspec.Struct, forbid_unknown_fields=True):
    mechanism: str
    kernel: str
    cycles: int


def pack(mechanism: str, kernel: str, cycles: int, state: bytes) -> bytes:
    """Return the bytes of a state.

    Parameters
    ----------
    mechanism, kernel : str
        Name of the mechanism, hash of its kernel.
    cycles : int
        Steps since it was assembled, with that one.
    state : bytes
    """
    body = MAGIC + msgspec.json.encode(_Head(mechanism, kernel, cycles)) + b"\n" + state
    return body + hashlib.sha256(body).digest()


def unpack(saved: bytes, mechanism: str, kernel: str, size: int) -> tuple[int, bytes]:
    """Return the cycles and the state of saved bytes.

    Raises
    ------
    StateError
        Damaged, or the state of another kernel.
    """
    if not isinstance(saved, bytes | bytearray | memoryview):
        given = type(saved).__name__
        raise StateError(
            f"{mechanism}: no saved state: {given}; give the bytes that save() returned"
        )
    saved = bytes(saved)
    head, line, _ = saved[: MOST_HEAD_BYTES + 1].partition(b"\n")
    if not saved.startswith(MAGIC) or not line:
        raise StateError(f"{mechanism}: no saved state: it does not begin with {MAGIC.decode()!r}")
    body, checksum = saved[:-CHECKSUM_BYTES], saved[-CHECKSUM_BYTES:]
    if hashlib.sha256(body).digest() != checksum:
        raise StateError(f"{mechanism}: the saved state is damaged: its checksum is another one")
    try:
        said = msgspec.json.decode(head.removeprefix(MAGIC), type=_Head)
    except msgspec.DecodeError as error:
        raise StateError(f"{mechanism}: the saved state is damaged: {error}") from None
    if said.kernel != kernel:
        raise StateError(
            f"{mechanism}: a state of kernel {said.kernel:.12} of {said.mechanism!r:.80}, this is kernel {kernel:.12}: "
            "build it of the same mechanism with the same options, compiler and version"
        )
    state = body[len(head) + 1 :]
    if len(state) != size or not 0 <= said.cycles <= MOST_CYCLES:
        raise StateError(
            f"{mechanism}: the saved state is damaged: {len(state)} of {size} bytes, cycles = {said.cycles}"
        )
    return said.cycles, state

"""Diagnosis data of a slave: error code 0x603F (CiA 402), diagnosis history 0x10F3 (ETG.1020)."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from io_bridge.master.mapped_pdos import Upload
from io_bridge.slaves import words
from io_bridge.slaves.errors import SdoAbortError
from io_bridge.slaves.moving_objects import AXIS_STEP

ERROR_CODE = 0x603F
HISTORY = 0x10F3
FIRST_MESSAGE = 6
MOST_MESSAGES = 5
NEWEST = 2  # subindex of the newest message
HEAD = struct.Struct("<HHHHQ")
KINDS = {0: "info", 1: "warning", 2: "error"}
CIA_CODE = 0xE800
"""Low half of a diagnosis code whose high half is an error code as of 0x603F."""


@dataclass(frozen=True)
class Diagnosis:
    """The diagnosis data of a slave; None: the slave does not have the object."""

    error_code: int | None = None
    history: tuple[str, ...] = ()
    error_object: int = ERROR_CODE

    def sentences(self) -> list[str]:
        """Return the errors; nothing where there are none."""
        found = []
        if self.error_code:
            found.append(
                f"error code 0x{self.error_object:04X}: {words.drive_error(self.error_code)}"
            )
        return found + [f"diagnosis history: {line}" for line in self.history]


def diagnose(upload: Upload, axis: int = 0) -> Diagnosis:
    """Ask a slave, or an axis of it, for its errors.

    Raises
    ------
    BringUpError
        It does not answer; an object that it does not have is not an error.
    """
    index = ERROR_CODE + AXIS_STEP * axis
    return Diagnosis(error_code(upload, index), history(upload), index)


def error_code(upload: Upload, index: int = ERROR_CODE) -> int | None:
    """Return object 0x603F, or that of another axis; None where there is none."""
    data = _optional(upload, index, 0)
    return int.from_bytes(data[:2], "little") if data else None


def history(upload: Upload) -> tuple[str, ...]:
    """Return the newest messages of the diagnosis history, the newest first."""
    newest = _optional(upload, HISTORY, NEWEST)
    at = newest[0] if newest else 0
    found = []
    for sub in range(at, max(at - MOST_MESSAGES, FIRST_MESSAGE - 1), -1):
        data = _optional(upload, HISTORY, sub)
        if not data:
            break
        found.append(message_words(data))
    return tuple(found)


def message_words(data: bytes) -> str:
    """Return a message of the diagnosis history in words."""
    if len(data) < HEAD.size:
        return f"a message of {len(data)} bytes: {data.hex(' ')}"
    low, high, flags, text, time_ns = HEAD.unpack_from(data)
    kind = KINDS.get(flags & 0x0F, f"kind {flags & 0x0F}")
    code = words.drive_error(high) if low == CIA_CODE else f"code {high << 16 | low:#010x}"
    return f"{kind}: {code}, text {text:#06x}, at {1e-9 * time_ns:.3f} s of its clock"


def _optional(upload: Upload, index: int, sub: int) -> bytes:
    try:
        return upload(index, sub)
    except SdoAbortError:
        return b""

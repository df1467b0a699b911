"""An EEPROM image taken apart and put together again, for quirks of its contents (ETG.2010)."""

from __future__ import annotations

import struct
from collections.abc import Iterator

HEAD = 128
END = 0xFFFF
GENERAL, MANAGERS, RX_PDO = 30, 41, 51
COMPLETE_ACCESS_BIT = 0x20
"""Bit of the CoE details in the category "general"."""


def categories(image: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield kind, start and end of the body of each category."""
    at = HEAD
    while at + 4 <= len(image):
        kind, words = struct.unpack_from("<HH", image, at)
        if kind == END:
            return
        yield kind, at + 4, min(at + 4 + 2 * words, len(image))
        at += 4 + 2 * words


def with_coe_details(image: bytes, bits: int, value: bool) -> bytes:
    """Return an image whose CoE details have `bits` set or not."""
    changed = bytearray(image)
    for kind, start, end in categories(image):
        if kind == GENERAL and end - start > 5:
            changed[start + 5] = changed[start + 5] & ~bits | (bits if value else 0)
    return bytes(changed)

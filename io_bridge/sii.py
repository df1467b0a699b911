"""Slave information interface: the EEPROM image by which a master knows a slave (ETG.2010)."""

from __future__ import annotations

import struct
from dataclasses import dataclass


@dataclass(frozen=True)
class Identity:
    """What a slave says it is; serial 0 = not given."""

    vendor: int
    product: int
    revision: int
    serial: int = 0


@dataclass(frozen=True)
class SyncManager:
    """One row of the sync manager table; use: 1, 2 mailbox out, in; 3, 4 process data out, in."""

    start: int
    size: int
    control: int
    use: int


def sync_managers(mailbox_bytes: int) -> tuple[SyncManager, ...]:
    """Return the usual four: mailbox out and in, outputs (with watchdog) and inputs."""
    return (
        SyncManager(0x1000, mailbox_bytes, 0x26, 1),
        SyncManager(0x1100, mailbox_bytes, 0x22, 2),
        SyncManager(0x1200, 0, 0x64, 3),
        SyncManager(0x1800, 0, 0x20, 4),
    )


def _category(kind: int, body: bytes) -> bytes:
    body += b"\0" * (len(body) % 2)
    return struct.pack("<HH", kind, len(body) // 2) + body


def checksum(config_words: bytes) -> int:
    """Return the CRC-8 (x^8 + x^2 + x + 1, start 0xFF) over the first seven words."""
    crc = 0xFF
    for byte in config_words[:14]:
        crc ^= byte
        for _ in range(8):
            crc = (crc << 1 ^ (0x07 if crc & 0x80 else 0)) & 0xFF
    return crc


def image(
    identity: Identity, name: str, managers: tuple[SyncManager, ...], alias: int = 0
) -> bytes:
    """Return the EEPROM image of a CoE device without complete access.

    Parameters
    ----------
    identity : Identity
    name : str
        Device name, ASCII, at most 64 characters.
    managers : tuple of SyncManager
        The first two are the mailbox.
    alias : int
        Configured station alias.
    """
    if not name.isascii() or not 0 < len(name) <= 64:
        raise ValueError(f"device name {name!r}: 1 to 64 ASCII characters")
    head = bytearray(128)
    struct.pack_into("<HHHHH", head, 0, 0x0005, 0, 0, 0, alias)
    head[14] = checksum(bytes(head))
    struct.pack_into(
        "<IIII", head, 16, identity.vendor, identity.product, identity.revision, identity.serial
    )
    out, back = managers[0], managers[1]
    struct.pack_into("<HHHH", head, 0x18 * 2, out.start, out.size, back.start, back.size)
    struct.pack_into("<H", head, 0x1C * 2, 0x0004)  # mailbox protocols: CoE
    struct.pack_into("<HH", head, 0x3E * 2, 7, 1)  # 1 KB, version 1
    text = name.encode()
    strings = bytes([1, len(text)]) + text
    general = bytearray(32)
    general[3] = 1  # name: string 1
    general[5] = 0x01 | 0x04 | 0x08  # SDO; PDO assignment and mapping can be changed
    rows = b"".join(
        struct.pack("<HHBBBB", sm.start, sm.size, sm.control, 0, 1, sm.use) for sm in managers
    )
    return (
        bytes(head)
        + _category(10, strings)
        + _category(30, bytes(general))
        + _category(40, bytes([1, 2]))
        + _category(41, rows)
        + b"\xff\xff"
    )

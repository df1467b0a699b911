"""Slave information interface: the EEPROM image by which a master knows a slave (ETG.2010)."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

MAILBOX_COE = 0x0004
COE_DETAILS = 0x01 | 0x02 | 0x04 | 0x08 | 0x20
"""SDO, information service, PDO assignment and mapping can be changed, complete access."""
CONFIG = bytes([0x05]) + bytes(13)
"""The first seven words: process data interface (SPI slave), no alias."""

PORT_PHYSICS = {"": 0, "mii": 1, "ebus": 3}


@dataclass(frozen=True)
class Identity:
    """The identity that a slave reports; serial 0 = not given."""

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


@dataclass(frozen=True)
class SiiPdo:
    """A PDO as the EEPROM lists it; entries are (index, subindex, data type, bits), name."""

    index: int
    manager: int
    name: str
    entries: tuple[tuple[int, int, int, int, str], ...]


def _pdo_category(kind: int, pdos: Sequence[SiiPdo], text: Callable[[str], int]) -> bytes:
    body = b""
    for pdo in pdos:
        body += struct.pack(
            "<HBBBBH", pdo.index, len(pdo.entries), pdo.manager, 0, text(pdo.name), 0
        )
        for index, sub, data_type, bits, name in pdo.entries:
            body += struct.pack("<HBBBBH", index, sub, text(name), data_type, bits, 0)
    return _category(kind, body) if body else b""


@dataclass(frozen=True)
class Eeprom:
    """The content of a device's EEPROM.

    Attributes
    ----------
    identity : Identity
    name : str
        Device name, ASCII, at most 64 characters.
    managers : tuple of SyncManager
        With a mailbox (use 1 and 2) the device speaks CoE.
    alias : int
        Configured station alias.
    ports : sequence of {"mii", "ebus", ""}
        Physics of ports 0 to 3.
    rx_pdos, tx_pdos : sequence of SiiPdo
        For a device without CoE, whose PDOs a master can learn nowhere else.
    config : bytes
        The first seven words except the alias.
    coe_details : int
        Which services of CoE it says that it has.
    """

    identity: Identity
    name: str
    managers: tuple[SyncManager, ...]
    alias: int = 0
    ports: Sequence[str] = ("mii", "mii")
    rx_pdos: Sequence[SiiPdo] = ()
    tx_pdos: Sequence[SiiPdo] = ()
    config: bytes = CONFIG
    coe_details: int = COE_DETAILS


def image(of: Eeprom) -> bytes:
    """Return the bytes of an EEPROM."""
    identity, name, managers = of.identity, of.name, of.managers
    if not name.isascii() or not 0 < len(name) <= 64:
        raise ValueError(f"device name {name!r}: 1 to 64 ASCII characters")
    head = bytearray(128)
    head[: len(of.config)] = of.config
    if of.alias:
        struct.pack_into("<H", head, 8, of.alias)
    head[14] = checksum(bytes(head))
    struct.pack_into(
        "<IIII", head, 16, identity.vendor, identity.product, identity.revision, identity.serial
    )
    by_use = {manager.use: manager for manager in managers}
    if 1 in by_use:
        out, back = by_use[1], by_use[2]
        struct.pack_into("<HHHH", head, 0x18 * 2, out.start, out.size, back.start, back.size)
        struct.pack_into("<H", head, 0x1C * 2, MAILBOX_COE)
    struct.pack_into("<HH", head, 0x3E * 2, 15, 1)  # 2 KB, version 1
    texts = [name]

    def text(words: str) -> int:
        if not words:
            return 0
        if words not in texts:
            texts.append(words)
        return texts.index(words) + 1

    general = bytearray(32)
    general[3] = 1  # name: string 1
    general[5] = of.coe_details if 1 in by_use else 0
    physics = sum(PORT_PHYSICS[port] << 4 * i for i, port in enumerate(of.ports))
    struct.pack_into("<H", general, 16, physics)
    uses = bytes(use - 2 for use in (3, 4) if use in by_use)  # 1 = outputs, 2 = inputs
    rows = b"".join(
        struct.pack("<HHBBBB", sm.start, sm.size, sm.control, 0, 1, sm.use) for sm in managers
    )
    pdos = _pdo_category(50, of.tx_pdos, text) + _pdo_category(51, of.rx_pdos, text)
    strings = bytes([len(texts)]) + b"".join(bytes([len(t)]) + t.encode() for t in texts)
    return (
        bytes(head)
        + _category(10, strings)
        + _category(30, bytes(general))
        + (_category(40, uses) if uses else b"")
        + (_category(41, rows) if rows else b"")
        + pdos
        + b"\xff\xff"
    )

"""Interrupt coalescing of a network card, read by ioctl and never set."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import socket
from dataclasses import dataclass

SIOCETHTOOL = 0x8946
GET_COALESCING = 0x0E
GET_LINK = 0x0A
GET_FLAGS, LRO_FLAG = 0x25, 1 << 15
# those that gather received frames, or hand the card more than one frame at a time
GET_OFFLOAD = {"gro": 0x2B, "gso": 0x23, "tso": 0x1E}


class _Coalescing(ctypes.Structure):
    """The head of `struct ethtool_coalesce`; the kernel fills all of it."""

    _fields_ = (
        ("cmd", ctypes.c_uint32),
        ("rx_usecs", ctypes.c_uint32),
        ("rx_frames", ctypes.c_uint32),
        ("rx_usecs_irq", ctypes.c_uint32),
        ("rx_frames_irq", ctypes.c_uint32),
        ("tx_usecs", ctypes.c_uint32),
        ("tx_frames", ctypes.c_uint32),
        ("tx_usecs_irq", ctypes.c_uint32),
        ("tx_frames_irq", ctypes.c_uint32),
        ("stats_block_usecs", ctypes.c_uint32),
        ("adaptive_rx", ctypes.c_uint32),
        ("adaptive_tx", ctypes.c_uint32),
        ("rest", ctypes.c_uint32 * 11),
    )


class _Value(ctypes.Structure):
    """`struct ethtool_value`."""

    _fields_ = (("cmd", ctypes.c_uint32), ("data", ctypes.c_uint32))


class _Request(ctypes.Structure):
    """`struct ifreq` with a pointer in its union."""

    _fields_ = (
        ("name", ctypes.c_char * 16),
        ("data", ctypes.c_void_p),
        ("rest", ctypes.c_char * 16),
    )


@dataclass(frozen=True)
class Coalescing:
    """Limits within which a card may delay the interrupt of a frame: times in µs, and numbers of frames."""

    rx_usecs: int
    rx_frames: int
    tx_usecs: int
    tx_frames: int
    adaptive: bool


def coalescing(interface: str) -> Coalescing:
    """Return the coalescing of a card.

    Raises
    ------
    OSError
        No such interface (ENODEV), or its driver does not support it (EOPNOTSUPP).
    """
    found = _Coalescing(cmd=GET_COALESCING)
    _ask(interface, found)
    return Coalescing(
        found.rx_usecs,
        found.rx_frames,
        found.tx_usecs,
        found.tx_frames,
        bool(found.adaptive_rx or found.adaptive_tx),
    )


def offloads(interface: str) -> dict[str, bool]:
    """Return which of `gro`, `gso`, `tso`, `lro` are on.

    Raises
    ------
    OSError
        No such interface (ENODEV), or its driver does not support it (EOPNOTSUPP).
    """
    found = {}
    for name, command in GET_OFFLOAD.items():
        value = _Value(cmd=command)
        _ask(interface, value)
        found[name] = bool(value.data)
    flags = _Value(cmd=GET_FLAGS)
    _ask(interface, flags)
    found["lro"] = bool(flags.data & LRO_FLAG)
    return found


def has_link(interface: str) -> bool | None:
    """Return whether something is at the other end of the cable; None where the driver does not report it."""
    value = _Value(cmd=GET_LINK)
    try:
        _ask(interface, value)
    except OSError:
        return None
    return bool(value.data)


def require_link(interface: str) -> None:
    """Raise OSError where an interface has no link, or is down."""
    if has_link(interface) is False:
        raise OSError(
            errno.ENETDOWN,
            f"interface {interface!r}: no link: it is down, the cable is unplugged, or the first slave "
            "has no power",
        )


def _ask(interface: str, message: ctypes.Structure) -> None:
    request = _Request(interface.encode()[:15], ctypes.addressof(message))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        fcntl.ioctl(asked, SIOCETHTOOL, request)

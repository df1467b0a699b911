"""An interface has one owner among our processes: two masters on one wire fight for its slaves.

The owner holds a name in the abstract socket namespace. The kernel keeps such names for each network namespace alone,
whichever user a process belongs to; nothing lies in a folder, and a name ends with its process, however that ends.
"""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterator
from typing import Self

HELD = "rigloop-wire-"
SAID = "rigloop-owner-"
KIND = 16
"""Bytes of a purpose that stay in front of a path too long for a name: `rigloop run`."""
MOST_NAME = 107
"""Bytes of a name after its leading zero."""

_purpose = ["a process of this package"]


class WireTakenError(OSError):
    """Another process of ours has the interface; the message names it."""


def introduce(purpose: str) -> None:
    """State the purpose for which this process wants a wire; others that find the wire taken get this text."""
    _purpose[0] = purpose


class WireOwner:
    """Ownership of interfaces, from its making to `close` or the end of the process.

    Parameters
    ----------
    *interfaces : str or None
        Both of a ring; None is left out.

    Raises
    ------
    WireTakenError
        One of them has an owner; none is taken then.
    OSError
        No such interface.
    """

    def __init__(self, *interfaces: str | None) -> None:
        self._sockets: list[socket.socket] = []
        try:
            # in one order everywhere, so that two that want both do not each get one
            for interface in sorted({name for name in interfaces if name is not None}):
                self._take(interface)
        except OSError:
            self.close()
            raise

    def _take(self, interface: str) -> None:
        number = _number(interface)
        try:
            self._sockets.append(_bound(f"{HELD}{number}"))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            raise WireTakenError(
                f"interface {interface!r}: {owner_words(number)} has it, and two masters on one wire fight for its "
                "slaves: end that one, or take another interface"
            ) from None
        said = f"{SAID}{number} {os.getpid()} {_purpose[0]}".encode(errors="replace")
        if len(said) > MOST_NAME:
            # the purpose comes first, and the end of a path says more than its beginning
            head = said[: len(f"{SAID}{number} {os.getpid()} ") + KIND]
            said = head + b"..." + said[-(MOST_NAME - len(head) - 3) :]
        self._sockets.append(_bound(said.decode(errors="replace").replace("\ufffd", "?")))

    def close(self) -> None:
        """Let go of all of them."""
        for held in self._sockets:
            held.close()
        self._sockets.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def owner_words(number: int) -> str:
    """Return who has an interface, by its number: process and purpose."""
    for name in _names():
        said, _, rest = name.partition(" ")
        pid, _, purpose = rest.partition(" ")
        if said == f"{SAID}{number}" and pid.isdecimal():
            return f"{''.join(c if c.isprintable() else '?' for c in purpose)} (process {pid})"
    return "another process of this package"


def _names() -> Iterator[str]:
    """Yield the abstract names of this network namespace."""
    try:
        with open("/proc/net/unix", errors="replace") as table:
            for row in table:
                _, found, name = row.rstrip("\n").partition(" @")
                if found:
                    yield name
    except OSError:
        return


def _bound(name: str) -> socket.socket:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        made.bind("\0" + name)
    except OSError:
        made.close()
        raise
    return made


def _number(interface: str) -> int:
    try:
        return socket.if_nametoindex(interface)
    except OSError:
        known = ", ".join(name for _, name in socket.if_nameindex())
        words = f"interface {interface!r}: {os.strerror(errno.ENODEV)}; there are {known}"
        raise OSError(errno.ENODEV, words) from None

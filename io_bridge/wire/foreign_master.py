"""Listen before the first frame: another EtherCAT master on the wire shows itself by its frames.

A master that is silent just then cannot be heard, nor one behind a switch that keeps its frames to itself.
"""

from __future__ import annotations

import select
import socket
import struct
import time
from collections import Counter
from dataclasses import dataclass, field

from io_bridge.wire.frame import parse
from io_bridge.wire.packet_socket import attach_filter
from io_bridge.wire.raw_socket import raw_socket

LISTEN_S = 0.2
"""Longer than the cycle of nearly every master; few wait for more than 10 ms."""
MOST_FRAMES = 256
ETHERTYPE_ALL = 0x0003
SOL_PACKET, PACKET_ADD_MEMBERSHIP, PROMISCUOUS = 263, 1, 1
COMMANDS = (
    "NOP", "APRD", "APWR", "APRW", "FPRD", "FPWR", "FPRW", "BRD", "BWR", "BRW", "LRD", "LWR", "LRW", "ARMW", "FRMW",
)  # fmt: skip
BY_A_SLAVE = 0x02
"""Bit of the first byte of a source address: the frame has passed a slave."""


class ForeignMasterError(OSError):
    """A foreign master was heard; the message names it."""


@dataclass
class Heard:
    """Frames that were heard on an interface, by where they come from."""

    interface: str
    listened_s: float
    sources: Counter[str] = field(default_factory=Counter)
    commands: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        n = self.sources.total()
        # replies of the slaves belong to the same master
        back = {f"{int(s[:2], 16) | BY_A_SLAVE:02x}{s[2:]}" for s in self.sources}
        masters = [s for s, _ in self.sources.most_common() if s not in back] or list(self.sources)
        what = ", ".join(name for name, _ in self.commands.most_common(3))
        return (
            f"{n}{' or more' if n >= MOST_FRAMES else ''} EtherCAT frames in {self.listened_s:.2f} s from "
            f"{', '.join(masters[:3])}" + (f" ({what})" if what else "")
        )


def listen(*interfaces: str | None, for_s: float = LISTEN_S) -> list[Heard]:
    """Return the frames heard on each interface; a silent interface is left out. Sends nothing.

    Raises
    ------
    OSError
        No such interface, or no CAP_NET_RAW.
    """
    names = [name for name in interfaces if name is not None]
    opened: list[socket.socket] = []
    found = [Heard(name, for_s) for name in names]
    try:
        for name in names:
            opened.append(_tap(name))
        began = time.monotonic()
        poll = select.poll()
        for tap in opened:
            poll.register(tap, select.POLLIN)
        while (left := began + for_s - time.monotonic()) > 0:
            poll.poll(max(1, round(1e3 * left)))
            for tap, heard in zip(opened, found, strict=True):
                _take(tap, heard)
            if any(heard.sources.total() >= MOST_FRAMES for heard in found):
                for heard in found:
                    heard.listened_s = time.monotonic() - began
                break
    finally:
        for tap in opened:
            tap.close()
    return [heard for heard in found if heard.sources]


def require_silence(*interfaces: str | None) -> None:
    """Refuse a wire on which a master speaks; called by the owner of the interfaces, before its first frame.

    Raises
    ------
    ForeignMasterError
        A master was heard.
    """
    heard = listen(*interfaces)
    if heard:
        raise ForeignMasterError(
            "; ".join(
                f"interface {one.interface!r}: another EtherCAT master speaks on this wire: {one}"
                for one in heard
            )
            + ": two masters fight for its slaves; end that one first"
        )


def _tap(interface: str) -> socket.socket:
    """Open a socket that sees all EtherCAT frames of an interface, also those of others on this machine."""
    tap = raw_socket(interface)
    try:
        attach_filter(tap, 0x00, 0xFF)
        tap.setblocking(False)
        tap.bind((interface, ETHERTYPE_ALL))
        # frames to one address only, which a card would keep to itself
        request = struct.pack("iHH8s", socket.if_nametoindex(interface), PROMISCUOUS, 0, bytes(8))
        tap.setsockopt(SOL_PACKET, PACKET_ADD_MEMBERSHIP, request)
    except OSError as error:
        tap.close()
        raise OSError(error.errno, f"interface {interface!r}: {error.strerror}") from error
    return tap


def _take(tap: socket.socket, heard: Heard) -> None:
    while heard.sources.total() < MOST_FRAMES:
        try:
            frame = tap.recv(2048)
        except OSError:  # nothing waits, or the interface is gone
            return
        try:
            commands = [datagram.command for datagram in parse(frame)]
        except ValueError:
            continue  # the Ethertype alone: process data between masters, or noise
        heard.sources[frame[6:12].hex(":")] += 1
        heard.commands.update(COMMANDS[c] for c in commands if 0 < c < len(COMMANDS))

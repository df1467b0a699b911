"""Detection of another EtherCAT master in mid-run: frames on our wire that are not ours.

Our own frames have one source address, and frames that come back to us have the same except for the bit that a slave
sets; the kernel keeps them from this socket. So a master that only reads, which no counter of ours shows, is seen by
the answers to its frames. Two masters cannot be seen: one whose frames never reach our end of the cable, and one with
our source address (rigloop on another machine).
"""

from __future__ import annotations

import contextlib
import ctypes
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Sequence

from io_bridge.bus_events import BusEvents
from io_bridge.wire.foreign_master import BY_A_SLAVE, COMMANDS, PROMISCUOUS
from io_bridge.wire.foreign_master import PACKET_ADD_MEMBERSHIP as ADD_MEMBERSHIP
from io_bridge.wire.foreign_master import SOL_PACKET as PACKET
from io_bridge.wire.frame import parse
from io_bridge.wire.packet_socket import ETHERTYPE, SO_ATTACH_FILTER
from io_bridge.wire.raw_socket import raw_socket

SOURCE = "wire"
OWN = 0x10101010
"""First bytes of the source address of every frame of ours."""
MOST_FRAMES = 256
"""Largest number of frames that one look reads."""
MOST_MASTERS = 8
READS = {"APRD", "FPRD", "BRD", "LRD", "NOP"}


def filter_program() -> list[tuple[int, int, int, int]]:
    """Return the classic BPF program that lets EtherCAT frames pass which are not ours."""
    return [
        (0x28, 0, 0, 12),  # A = Ethertype
        (0x15, 0, 4, ETHERTYPE),
        (0x20, 0, 0, 6),  # A = first bytes of the source
        (0x54, 0, 0, 0xFFFFFFFF ^ BY_A_SLAVE << 24),
        (0x15, 1, 0, OWN),
        (0x06, 0, 0, 0xFFFF),
        (0x06, 0, 0, 0),
    ]


class ForeignWatch:
    """Listens beside a running cycle; part of the attendant.

    Parameters
    ----------
    interfaces : sequence of str
    events : BusEvents
        Takes a warning for each master that is heard, and another one when it begins to write.
    every_s : float

    Raises
    ------
    OSError
        No such interface, or no CAP_NET_RAW.
    """

    def __init__(self, interfaces: Sequence[str], events: BusEvents, every_s: float) -> None:
        self._events = events
        self._every_s = every_s
        self._looked_s = time.monotonic()
        self._heard: dict[str, Counter[str]] = {}
        self._warned: set[tuple[str, bool]] = set()
        self._taps: list[tuple[str, socket.socket]] = []
        self._lock = threading.Lock()
        try:
            for name in interfaces:
                self._taps.append((name, _tap(name)))
        except OSError:
            self.close()
            raise

    def look(self) -> None:
        """Take the received frames; at most every `every_s`."""
        now = time.monotonic()
        if now - self._looked_s < self._every_s:
            return
        self._looked_s = now
        self.take()

    def take(self) -> None:
        """Take what has come: also at the end of a run that another master has ended before the next look."""
        with self._lock:
            for name, tap in self._taps:
                for _ in range(MOST_FRAMES):
                    try:
                        frame = tap.recv(2048)
                    except OSError:  # nothing waits, or the interface is gone
                        break
                    self._take(name, frame)

    def _take(self, interface: str, frame: bytes) -> None:
        try:
            commands = [datagram.command for datagram in parse(frame)]
        except ValueError:
            return  # the Ethertype alone
        # a frame that has passed a slave is the same master's
        source = bytes([frame[6] & ~BY_A_SLAVE & 0xFF]) + frame[7:12]
        who = source.hex(":")
        if who not in self._heard and len(self._heard) >= MOST_MASTERS:
            return
        heard = self._heard.setdefault(who, Counter())
        heard.update(COMMANDS[c] if c < len(COMMANDS) else f"command {c}" for c in commands)
        writes = bool(set(heard) - READS)
        if (who, writes) not in self._warned:
            self._warned.add((who, writes))
            self._events.add(SOURCE, _sentence(interface, who, heard, writes), warns=True)

    def close(self) -> None:
        """Close the sockets."""
        with self._lock:
            for _, tap in self._taps:
                tap.close()
            self._taps.clear()


def _sentence(interface: str, who: str, heard: Counter[str], writes: bool) -> str:
    what = ", ".join(name for name, _ in heard.most_common(3))
    return (
        f"another EtherCAT master ({who}) sends on interface {interface!r} during this run ({what}): "
        + (
            "it writes, and may take slaves from under the torque: end it"
            if writes
            else "it has only read so far; its frames delay those of this run, and if it reads a mailbox, answers "
            "are lost: end it"
        )
    )


def _tap(interface: str) -> socket.socket:
    """Open a socket for incoming frames that are not ours; it ignores frames that this machine sends, so that the
    cycle's own sending costs nothing more."""
    tap = raw_socket(interface)
    try:
        program = filter_program()
        code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in program))
        head = struct.pack("HxxxxxxP", len(program), ctypes.addressof(code))
        tap.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, head)
        tap.setblocking(False)
        tap.bind((interface, ETHERTYPE))
        request = struct.pack("iHH8s", socket.if_nametoindex(interface), PROMISCUOUS, 0, bytes(8))
        with contextlib.suppress(OSError):
            tap.setsockopt(PACKET, ADD_MEMBERSHIP, request)
    except OSError as error:
        tap.close()
        raise OSError(error.errno, f"interface {interface!r}: {error.strerror}") from error
    return tap

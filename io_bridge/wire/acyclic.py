"""Frames beside the cycle on a network interface, or on both of a ring: sockets of their own, with indices that
no one else uses."""

from __future__ import annotations

import select
import socket
import time

from io_bridge.wire.frame import WireDatagram, build, parse
from io_bridge.wire.packet_socket import open_socket

FIRST_INDEX = 0x40
"""pysoem has the indices below, the cycle those from 0x80 on."""
TOOL_INDEX = 0x60
"""From here on indices belong to tools of another process."""
N_INDICES = 0x20
REPLY_TIMEOUT_S = 0.02
SILENT_TIMEOUT_S = 0.002
"""Timeout of a line that did not answer the last time."""
INDEX_AT = 17
POSITIONAL = (1, 2, 3, 13)
"""Commands that count slaves from where the frame enters."""
BRD, BWR, BRW = 7, 8, 9
FIRST, SECOND = 0, 1


class AcyclicLine:
    """Exchanges one frame at a time; an ordinary thread's, never the cycle's.

    With two interfaces a frame goes out on the first. From an open ring it comes back there, done by the slaves on
    that side, and is sent on into the second one as it is: so counters add up and positions go on counting.

    Parameters
    ----------
    interface : str
    first_index : int
        `FIRST_INDEX` beside a cycle of this process, `TOOL_INDEX` for one of another.
    second : str, optional
        The interface at the other end of a ring.

    Raises
    ------
    OSError
        No such interface, it is down, or no CAP_NET_RAW.
    """

    def __init__(
        self, interface: str, first_index: int = FIRST_INDEX, second: str | None = None
    ) -> None:
        self._first_index = first_index
        self._sockets: list[socket.socket] = []
        self._silent: list[int] = []  # consecutive frames that brought nothing, by line
        self._poll = select.poll()
        try:
            for name in (interface,) if second is None else (interface, second):
                self._sockets.append(open_socket(name, first_index, first_index + N_INDICES - 1))
                self._sockets[-1].setblocking(False)
                self._silent.append(0)
                self._poll.register(self._sockets[-1], select.POLLIN)
        except OSError:
            self.close()
            raise

    def transact(self, frame: bytes) -> bytes | None:
        """Return the reply to a frame; None when none comes, or the link is down."""
        if len(self._sockets) == 1:
            return self._reply(FIRST, frame, patient=True)[0]
        counts = any(datagram.command in POSITIONAL for datagram in parse(frame))
        reply, came = self._reply(FIRST, frame, patient=counts)
        if came == SECOND or (reply is not None and _is_answered(reply)):
            return reply
        if reply is None and counts and self._silent[FIRST] < 2:
            # it may have been lost, and seen from the other end the same positions are other slaves
            return None
        rest, _ = self._reply(SECOND, frame if reply is None else reply)
        return reply if rest is None else rest

    def silent_lines(self) -> list[int]:
        """Return the lines from which nothing comes back, neither there nor at the other end."""
        frame = build([WireDatagram(BRD, self._first_index, 0, bytes(1))])
        reply, came = self._reply(FIRST, frame, patient=True)
        if came == SECOND:
            return []
        rest, _ = self._reply(SECOND, frame, patient=True)
        return [line for line, found in enumerate((reply, rest)) if found is None]

    def _reply(self, line: int, frame: bytes, patient: bool = False) -> tuple[bytes | None, int]:
        """Send on a line; return the reply, and its line."""
        wait_s = SILENT_TIMEOUT_S if self._silent[line] and not patient else REPLY_TIMEOUT_S
        until = time.monotonic() + wait_s
        try:
            self._drain()
            self._sockets[line].send(frame)
            while (left := until - time.monotonic()) > 0:
                self._poll.poll(max(1, round(1e3 * left)))
                for came in range(len(self._sockets)):
                    reply = self._received(came)
                    if reply and reply[INDEX_AT] == frame[INDEX_AT]:
                        self._silent[line] = 0
                        return reply, came
        except OSError:
            pass
        self._silent[line] += 1
        return None, line

    def _received(self, line: int) -> bytes:
        """Return the next frame that waits on a line; empty when there is none."""
        try:
            return self._sockets[line].recv(2048)
        except BlockingIOError:
            return b""
        except OSError:  # the other line may still be there
            if len(self._sockets) == 1:
                raise
            return b""

    def _drain(self) -> None:
        for line in range(len(self._sockets)):
            while self._received(line):
                pass

    def close(self) -> None:
        for opened in self._sockets:
            opened.close()


def _is_answered(reply: bytes) -> bool:
    """Return whether no slave on the other side can have anything to add."""
    return all(d.wkc and d.command not in (BRD, BWR, BRW) for d in parse(reply))

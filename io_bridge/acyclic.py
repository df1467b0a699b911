"""Frames beside the cycle on a network interface: a socket of its own, with indices that no one else uses."""

from __future__ import annotations

import time

from io_bridge.packet_socket import open_socket

FIRST_INDEX = 0x40
"""pysoem has the indices below, the cycle those from 0x80 on."""
TOOL_INDEX = 0x60
"""From here on indices belong to tools of another process."""
N_INDICES = 0x20
REPLY_TIMEOUT_S = 0.02
INDEX_AT = 17


class AcyclicLine:
    """Exchanges one frame at a time; an ordinary thread's, never the cycle's.

    Parameters
    ----------
    interface : str
    first_index : int
        `FIRST_INDEX` beside a cycle of this process, `TOOL_INDEX` for one of another.

    Raises
    ------
    OSError
        No such interface, it is down, or no CAP_NET_RAW.
    """

    def __init__(self, interface: str, first_index: int = FIRST_INDEX) -> None:
        self._socket = open_socket(interface, first_index, first_index + N_INDICES - 1)

    def transact(self, frame: bytes) -> bytes | None:
        """Return the reply to a frame; None when none comes, or the link is down."""
        until = time.monotonic() + REPLY_TIMEOUT_S
        try:
            self._drain()
            self._socket.send(frame)
            while (left := until - time.monotonic()) > 0:
                self._socket.settimeout(left)
                reply = self._socket.recv(2048)
                if reply[INDEX_AT] == frame[INDEX_AT]:
                    return reply
        except OSError:
            return None
        return None

    def _drain(self) -> None:
        self._socket.setblocking(False)
        try:
            while self._socket.recv(1):
                pass
        except BlockingIOError:
            pass

    def close(self) -> None:
        self._socket.close()

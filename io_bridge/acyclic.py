"""Frames beside the cycle on a network interface: a socket of its own, with indices that no one else uses."""

from __future__ import annotations

import socket
import time

from io_bridge.packet_socket import ETHERTYPE, attach_filter

FIRST_INDEX = 0x40
"""pysoem has the indices below, the cycle those from 0x80 on."""
LAST_INDEX = 0x7F
REPLY_TIMEOUT_S = 0.02
INDEX_AT = 17


class AcyclicLine:
    """Exchanges one frame at a time; an ordinary thread's, never the cycle's.

    Raises
    ------
    OSError
        No such interface, it is down, or no CAP_NET_RAW.
    """

    def __init__(self, interface: str) -> None:
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        try:
            attach_filter(self._socket, FIRST_INDEX, LAST_INDEX)
            self._socket.bind((interface, ETHERTYPE))
        except OSError:
            self._socket.close()
            raise

    def transact(self, frame: bytes) -> bytes | None:
        """Return the reply to a frame; None when none comes, or the link is down."""
        until = time.monotonic() + REPLY_TIMEOUT_S
        try:
            self._drain()
            self._socket.send(frame)
            while (left := until - time.monotonic()) > 0:
                self._socket.settimeout(left)
                reply, address = self._socket.recvfrom(2048)
                # our own frame on its way out is seen too
                if address[2] != socket.PACKET_OUTGOING and reply[INDEX_AT] == frame[INDEX_AT]:
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

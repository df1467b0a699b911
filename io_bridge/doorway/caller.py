"""A client's end: a DEALER socket whose connection to a service is made once, and waited for."""

from __future__ import annotations

import os
import stat
import time
import weakref
from pathlib import Path
from typing import Self

import zmq

from io_bridge.doorway.keys import Pair
from io_bridge.doorway.local_socket import IPC, DoorError, is_served

QUEUED = 1000
LINGER_MS = 200
HEARTBEAT_MS = 2000
LOOK_S = 0.5  # so often who waits looks if anybody listens there
LAST_WORDS_S = 0.1


class Caller:
    """A connection to a service; use as a context manager.

    Parameters
    ----------
    endpoint : str
        `ipc://...` or `tcp://HOST:PORT`.
    pair : Pair, optional
        One's own keys, for TCP.
    server : str, optional
        Public key of the service, for TCP.
    most_bytes : int
        The largest answer that is taken.

    Raises
    ------
    DoorError
        No such socket, or keys are missing.
    """

    def __init__(
        self, endpoint: str, pair: Pair | None = None, server: str = "", most_bytes: int = 1 << 25
    ) -> None:
        if endpoint.startswith(IPC):
            _check_owner(Path(endpoint.removeprefix(IPC)))
        elif pair is None or not server:
            raise DoorError(
                f"{endpoint}: over TCP a service is reached with keys: `rigloop keys new`, have the service's side "
                "authorise your public key, and authorise its own here"
            )
        self.endpoint = endpoint
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.DEALER)
        # a context that is collected with a socket open waits for it for ever
        weakref.finalize(self, _hang_up, self._socket, self._context)
        self._socket.setsockopt(zmq.LINGER, LINGER_MS)
        self._socket.setsockopt(zmq.RCVHWM, QUEUED)
        self._socket.setsockopt(zmq.MAXMSGSIZE, most_bytes)
        self._socket.setsockopt(zmq.HEARTBEAT_IVL, HEARTBEAT_MS)
        self._socket.setsockopt(zmq.HEARTBEAT_TIMEOUT, 3 * HEARTBEAT_MS)
        if pair is not None and not endpoint.startswith(IPC):
            self._socket.curve_publickey = pair.public.encode()
            self._socket.curve_secretkey = pair.secret.encode()
            self._socket.curve_serverkey = server.encode()
        try:
            self._socket.connect(endpoint)
        except zmq.ZMQError as error:
            self.close()
            raise DoorError(f"{endpoint}: {error.strerror}") from None

    def close(self) -> None:
        """Hang up."""
        self._context.destroy(linger=LINGER_MS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def send(self, raw: bytes) -> None:
        """Send a message; one that nobody takes waits."""
        try:
            self._socket.send(raw, zmq.DONTWAIT)
        except zmq.Again:
            raise DoorError(f"{self.endpoint}: the service accepts no message") from None

    def receive(self, timeout_s: float) -> bytes | None:
        """Return the next message that is not empty, or None after a time.

        Raises
        ------
        DoorError
            Nobody listens at the local socket any more, so that nothing will come.
        """
        if not self._is_ready(timeout_s):
            return None
        parts = self._socket.recv_multipart()
        return parts[0] if len(parts) == 1 else b""

    def _is_ready(self, timeout_s: float) -> bool:
        """Wait for a message, in pieces: a service that was killed says no good-bye."""
        until = time.monotonic() + timeout_s
        path = Path(self.endpoint.removeprefix(IPC)) if self.endpoint.startswith(IPC) else None
        while (left_s := until - time.monotonic()) > LOOK_S:
            if self._polled(LOOK_S):
                return True
            if path is not None and not is_served(path):
                if self._polled(LAST_WORDS_S):
                    return True
                raise DoorError(
                    f"{path}: nobody listens there any more: the service has ended, or was killed; "
                    "`rigloop serve RIG` starts one"
                )
        return self._polled(left_s)

    def _polled(self, timeout_s: float) -> bool:
        return bool(self._socket.poll(max(0, round(1e3 * timeout_s))))


def _hang_up(socket: zmq.Socket[bytes], context: zmq.Context[zmq.Socket[bytes]]) -> None:
    socket.close(linger=0)
    context.destroy(linger=0)


def _check_owner(path: Path) -> None:
    try:
        found = os.stat(path)
    except OSError:
        raise DoorError(
            f"{path}: no service has this socket; `rigloop serve RIG` starts one"
        ) from None
    if not stat.S_ISSOCK(found.st_mode) or found.st_uid not in (os.getuid(), 0):
        raise DoorError(f"{path}: is not a socket of this user")
    if not is_served(path):
        raise DoorError(
            f"{path}: no service listens there: it was killed; `rigloop serve RIG` starts one"
        )

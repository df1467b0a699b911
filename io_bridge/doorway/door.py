"""The door of a service: ROUTER sockets, a local one and perhaps one on TCP with CURVE keys.

A message is one frame of bytes. A client is known by the name that ZeroMQ gave to its connection, which nobody else can
take while it lasts.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import zmq
from zmq import MessageTracker

from io_bridge.doorway.keys import Pair
from io_bridge.doorway.local_socket import IPC, DoorError, is_served, private_folder

QUEUED = 200  # messages for a slow client before they are dropped
HANDSHAKE_MS = 5000
HEARTBEAT_MS = 2000
WAITING = 64  # connections that wait to be taken


@dataclass(frozen=True)
class Client:
    """A connection: the door it came through, its name there, and its public key if it has one."""

    door: str
    name: bytes
    key: str = ""


@dataclass(frozen=True)
class Letter:
    """Bytes that a client has sent; None: it sent more than one frame."""

    client: Client
    raw: bytes | None


class Door:
    """The sockets of a service; use as a context manager.

    Parameters
    ----------
    most_bytes : int
        ZeroMQ hangs up on whoever sends more in one frame.
    """

    def __init__(self, most_bytes: int) -> None:
        self.context = zmq.Context()
        self._most_bytes = most_bytes
        self._sockets: dict[str, zmq.Socket[bytes]] = {}
        self._poller = zmq.Poller()
        self._woken = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._poller.register(self._woken, zmq.POLLIN)
        self._file: tuple[Path, tuple[int, int]] | None = None

    def __enter__(self) -> Door:
        return self

    def __exit__(self, *error: object) -> None:
        for one in self._sockets.values():
            one.close(linger=100)
        self.context.destroy(linger=100)
        os.close(self._woken)
        if self._file is not None:
            path, identity = self._file
            with contextlib.suppress(OSError):
                if _identity(path) == identity:
                    path.unlink()

    def open_local(self, endpoint: str) -> None:
        """Bind a local socket that only its owner reaches.

        Raises
        ------
        DoorError
            Another process has it, or its folder is open to others.
        """
        path = Path(endpoint.removeprefix(IPC))
        private_folder(path.parent)
        if path.exists() or path.is_symlink():
            _refuse_if_served(path)
        before = os.umask(0o177)
        try:
            self._bind("local", endpoint, self._made())
        finally:
            os.umask(before)
        self._file = path, _identity(path)

    def open_tcp(self, endpoint: str, pair: Pair, domain: str) -> None:
        """Bind a TCP socket; only those come in that the authenticator of the domain lets in.

        Raises
        ------
        DoorError
            This machine has no such address, or it is taken.
        """
        made = self._made()
        made.curve_server = True
        made.curve_publickey, made.curve_secretkey = pair.public.encode(), pair.secret.encode()
        made.zap_domain = domain.encode()
        # without an authenticator nobody comes in
        made.setsockopt(zmq.ZAP_ENFORCE_DOMAIN, 1)
        self._bind("tcp", endpoint, made)

    def endpoints(self) -> list[str]:
        """Return the addresses of the sockets, with the ports that they have."""
        return [one.getsockopt_string(zmq.LAST_ENDPOINT) for one in self._sockets.values()]

    def wait(self, timeout_s: float) -> None:
        """Wait until a letter is there, another thread wakes this one, or the time is over."""
        if self._woken in dict(self._poller.poll(max(0, round(1e3 * timeout_s)))):
            os.eventfd_read(self._woken)

    def wake(self) -> None:
        """End the wait of the thread that hears; any thread may call it, before the door closes."""
        os.eventfd_write(self._woken, 1)

    def letters(self, most: int) -> Iterator[Letter]:
        """Yield letters that are there, at most `most` of each socket."""
        for door, one in self._sockets.items():
            for _ in range(most):
                try:
                    name = one.recv(zmq.DONTWAIT)
                except zmq.Again:
                    break
                yield self._letter(door, name, one)

    def send(self, client: Client, raw: bytes) -> bool | None:
        """Send to a client; False: it has gone; None: it takes nothing at the moment, and this is dropped."""
        try:
            self._sockets[client.door].send_multipart([client.name, raw], zmq.DONTWAIT)
        except zmq.Again:
            return None
        except zmq.ZMQError as error:
            if error.errno == zmq.EHOSTUNREACH:
                return False
            raise
        return True

    def send_large(self, client: Client, raw: bytes) -> MessageTracker | None:
        """Send as `send`; return what says whether the bytes have left this process, or None: they never will."""
        try:
            found: Any = self._sockets[client.door].send_multipart(
                [client.name, raw], zmq.DONTWAIT, copy=False, track=True
            )
        except zmq.Again:
            return None
        except zmq.ZMQError as error:
            if error.errno == zmq.EHOSTUNREACH:
                return None
            raise
        tracker: MessageTracker = found
        return tracker

    def _letter(self, door: str, name: bytes, one: zmq.Socket[bytes]) -> Letter:
        key, parts, raw = "", 0, b""
        while one.getsockopt(zmq.RCVMORE):
            frame: Any = one.recv(zmq.DONTWAIT, copy=False)
            parts += 1
            if parts == 1:
                raw = frame.bytes
                if door == "tcp":
                    key = frame.get("User-Id")
        return Letter(Client(door, name, key), raw if parts == 1 else None)

    def _made(self) -> zmq.Socket[bytes]:
        made = self.context.socket(zmq.ROUTER)
        made.setsockopt(zmq.ROUTER_MANDATORY, 1)
        made.setsockopt(zmq.MAXMSGSIZE, self._most_bytes)
        made.setsockopt(zmq.SNDHWM, QUEUED)
        made.setsockopt(zmq.RCVHWM, QUEUED)
        made.setsockopt(zmq.BACKLOG, WAITING)
        made.setsockopt(zmq.HANDSHAKE_IVL, HANDSHAKE_MS)
        made.setsockopt(zmq.HEARTBEAT_IVL, HEARTBEAT_MS)
        made.setsockopt(zmq.HEARTBEAT_TIMEOUT, 3 * HEARTBEAT_MS)
        made.setsockopt(zmq.LINGER, 0)
        return made

    def _bind(self, door: str, endpoint: str, made: zmq.Socket[bytes]) -> None:
        try:
            made.bind(endpoint)
        except zmq.ZMQError as error:
            made.close()
            raise DoorError(f"{endpoint}: cannot be had: {error.strerror}") from None
        self._sockets[door] = made
        self._poller.register(made, zmq.POLLIN)


def _refuse_if_served(path: Path) -> None:
    """Refuse a file that is no socket of a service that has ended."""
    if not path.is_socket():
        raise DoorError(f"{path}: is there, and is not a socket; move it away, or give --name")
    if is_served(path):
        raise DoorError(f"{path}: another service has this name; give --name, or end that one")


def _identity(path: Path) -> tuple[int, int]:
    found = os.lstat(path)
    return found.st_dev, found.st_ino

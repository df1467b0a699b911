"""SDOs beside a running cycle: a local socket that takes one request and gives one answer, in JSON lines.

The socket is a file of the user's own; who connects must be the same user, or root.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import struct
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from io_bridge.attendant.dead_sockets import FOLDER
from io_bridge.bus_events import BusEvent
from io_bridge.master.master import Master
from io_bridge.slaves.errors import BringUpError, SdoAbortError
from io_bridge.slaves.moving_objects import moving
from io_bridge.slaves.pdo_layout import SlaveRecord
from rig_configs.json_message import decode

log = logging.getLogger("rigloop.bus")

LONGEST_REQUEST = 4096
LONGEST_ANSWER = 1 << 20
REQUEST_TIMEOUT_S = 0.2
ANSWER_TIMEOUT_S = 30.0
"""Longer than any transfer of an object may take."""
MOST_WRITTEN = 1024


class Request(msgspec.Struct, forbid_unknown_fields=True):
    """Read an object, or write it where there is a value (in hexadecimal digits)."""

    slave: Annotated[int, msgspec.Meta(ge=0, le=65535)]
    index: Annotated[int, msgspec.Meta(ge=0, le=0xFFFF)]
    subindex: Annotated[int, msgspec.Meta(ge=0, le=0xFF)]
    value: (
        Annotated[
            str,
            msgspec.Meta(min_length=2, max_length=2 * MOST_WRITTEN, pattern="^([0-9a-fA-F]{2})+$"),
        ]
        | None
    ) = None


class EventsRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Report events of the bus."""

    ask: Literal["events"] = "events"


class Answer(msgspec.Struct, omit_defaults=True):
    """Data in hexadecimal digits, or an error; and the messages that the slave sent unasked meanwhile."""

    data: str | None = None
    error: str | None = None
    abort_code: int | None = None
    said: tuple[str, ...] = ()
    events: tuple[BusEvent, ...] = ()


def socket_path(interface: str) -> Path:
    """Return where the loop that runs on an interface serves SDOs.

    A name belongs to an interface of one network namespace; files are seen from all of them.
    """
    namespace = os.stat("/proc/self/ns/net").st_ino
    return FOLDER / f"rigloop-{os.getuid()}-mailbox-{namespace}-{interface}"


def peer(connection: socket.socket) -> tuple[int, int]:
    """Return process and user at the other end."""
    pid, uid, _ = struct.unpack(
        "iII", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    )
    return int(pid), int(uid)


def _is_ours(connection: socket.socket) -> bool:
    return peer(connection)[1] in (os.getuid(), 0)


class MailboxService:
    """Serves one request at a time from the thread that calls `serve`.

    Parameters
    ----------
    interface : str
    master : Master
    records : sequence of SlaveRecord
    events : callable
        Returns the events of the bus.
    """

    def __init__(
        self,
        interface: str,
        master: Master,
        records: Sequence[SlaveRecord],
        events: Callable[[], Iterable[BusEvent]] = tuple,
    ) -> None:
        self.path = socket_path(interface)
        self._master = master
        self._records = tuple(records)
        self._events = events
        self._socket: socket.socket | None = None

    def open(self) -> None:
        """Listen; another loop that serves the same interface keeps its socket, and a loop runs without one."""
        if is_served(self.path):
            return
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = os.umask(0o177)
        try:
            self.path.unlink(missing_ok=True)
            listener.bind(str(self.path))
            listener.listen(4)
        except OSError as error:
            log.warning("no SDOs for other processes: %s: %s", self.path, error.strerror or error)
            listener.close()
            return
        finally:
            os.umask(before)
        self._socket = listener

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
            self.path.unlink(missing_ok=True)

    def serve(self, wait_s: float) -> bool:
        """Wait for a request and answer it. Return False, at once, when nothing listens."""
        if self._socket is None:
            return False
        self._socket.settimeout(wait_s)
        try:
            connection, _ = self._socket.accept()
        except OSError:
            return True
        with connection, contextlib.suppress(OSError):
            if _is_ours(connection):
                answer = self.answer(_line(connection))
                connection.settimeout(REQUEST_TIMEOUT_S)
                connection.sendall(msgspec.json.encode(answer) + b"\n")
        return True

    def answer(self, line: bytes) -> Answer:
        """Return the answer to a request; raises nothing, whatever the request is."""
        if len(line) > LONGEST_REQUEST:
            return Answer(error=f"not understood: a request has at most {LONGEST_REQUEST} bytes")
        try:
            raw = decode(line, type=dict[str, Any])
            if "ask" in raw:
                msgspec.convert(raw, EventsRequest)
                return Answer(events=tuple(self._events()))
            request = msgspec.convert(raw, Request)
        except (msgspec.MsgspecError, RecursionError, ValueError) as error:
            return Answer(error=f"not understood: {error}")
        try:
            return self._transfer(request)
        except SdoAbortError as error:
            return Answer(error=str(error), abort_code=error.code)
        except (BringUpError, TimeoutError, ValueError) as error:
            return Answer(error=str(error))
        except Exception as error:
            log.exception("a request for SDOs")
            return Answer(error=f"it failed: {type(error).__name__}: {error}")

    def _transfer(self, request: Request) -> Answer:
        if request.slave >= len(self._records):
            n = len(self._records)
            return Answer(error=f"no slave {request.slave}: there are {n}, from 0")
        station = self._records[request.slave].layout.station
        client = self._master.client(station)
        began_ns = time.monotonic_ns()
        if request.value is None:
            data = client.upload(request.index, request.subindex)
        elif moves := moving(request.index) if request.subindex == 0 else "":
            return Answer(
                error=f"{request.index:#06x}, {moves}, moves the drive past its guard: it is not written while a loop "
                "runs"
            )
        else:
            data = bytes.fromhex(request.value)
            client.download(request.index, request.subindex, data)
        said = [e for e in self._master.emergencies.of(station) if e.time_ns >= began_ns]
        return Answer(data=data.hex(), said=tuple(map(str, said)))


def _line(connection: socket.socket) -> bytes:
    """Return the bytes up to the end of a line, of the connection, of the time limit or of the size limit."""
    until = time.monotonic() + REQUEST_TIMEOUT_S
    line = b""
    while len(line) <= LONGEST_REQUEST and (left := until - time.monotonic()) > 0:
        connection.settimeout(left)
        try:
            part = connection.recv(LONGEST_REQUEST + 1 - len(line))
        except TimeoutError:
            break
        line += part
        if not part or b"\n" in part:
            break
    return line


def is_served(path: Path) -> bool:
    """Return whether a process listens there."""
    return server_of(path) is not None


def server_of(path: Path) -> int | None:
    """Return the process that listens there, None when nobody does, or another user."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return None
        return peer(probe)[0] if _is_ours(probe) else None


def ask(path: Path, slave: int, index: int, subindex: int, value: bytes | None = None) -> Answer:
    """Ask the loop that listens at `path` for an object of a slave, or to write it.

    Raises
    ------
    OSError
        Nobody listens, or the answer does not come.
    """
    given = None if value is None else value.hex()
    return _exchange(path, Request(slave, index, subindex, given))


def ask_events(path: Path) -> tuple[BusEvent, ...]:
    """Ask the loop that listens at `path` for the events of its bus.

    Raises
    ------
    OSError
        Nobody listens, or the answer does not come.
    """
    return _exchange(path, EventsRequest()).events


def _exchange(path: Path, request: Request | EventsRequest) -> Answer:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.settimeout(ANSWER_TIMEOUT_S)
        line.connect(str(path))
        if not _is_ours(line):
            raise PermissionError(f"{path}: its owner is another user")
        line.sendall(msgspec.json.encode(request) + b"\n")
        answer = b""
        while not answer.endswith(b"\n") and len(answer) < LONGEST_ANSWER:
            part = line.recv(65536)
            if not part:
                break
            answer += part
    if not answer:
        raise ConnectionError(f"{path}: no answer")
    try:
        return decode(answer, type=Answer)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ConnectionError(f"{path}: an answer that is not understood: {error}") from error

"""SDOs beside a running cycle: a local socket that takes one request and gives one answer, in JSON lines.

The socket is a file of the user's own; who connects must be the same user, or root.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import socket
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from io_bridge.master import BringUpError, Master, SdoAbortError
from io_bridge.pdo_layout import SlaveRecord

log = logging.getLogger("rigloop.bus")

FOLDER = Path("/dev/shm")
LONGEST_REQUEST = 4096
REQUEST_TIMEOUT_S = 0.2
ANSWER_TIMEOUT_S = 5.0


def socket_path(interface: str) -> Path:
    """Return where the loop that runs on an interface serves SDOs.

    A name belongs to an interface of one network namespace; files are seen from all of them.
    """
    namespace = os.stat("/proc/self/ns/net").st_ino
    return FOLDER / f"rigloop-{os.getuid()}-mailbox-{namespace}-{interface}"


def _peer(connection: socket.socket) -> int:
    """Return the user at the other end."""
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    return int(struct.unpack("iII", raw)[1])


class MailboxService:
    """Serves one request at a time from the thread that calls `serve`."""

    def __init__(self, interface: str, master: Master, records: Sequence[SlaveRecord]) -> None:
        self.path = socket_path(interface)
        self._master = master
        self._records = tuple(records)
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
            log.warning("no SDOs for other processes: %s: %s", self.path, error.strerror)
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
            connection.settimeout(REQUEST_TIMEOUT_S)
            if _peer(connection) in (os.getuid(), 0):
                line = connection.recv(LONGEST_REQUEST)
                connection.sendall(json.dumps(self._answer(line)).encode() + b"\n")
        return True

    def _answer(self, line: bytes) -> dict[str, Any]:
        try:
            request = json.loads(line)
            position, index, sub = (int(request[key]) for key in ("slave", "index", "subindex"))
            value = request.get("value")
            data = None if value is None else bytes.fromhex(value)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return {"error": f"not understood: {error!r}"}
        if not 0 <= position < len(self._records):
            return {"error": f"no slave {position}: there are {len(self._records)}, from 0"}
        station = self._records[position].layout.station
        try:
            if data is None:
                return {"data": self._master.upload(station, index, sub).hex()}
            self._master.download(station, index, sub, int.from_bytes(data, "little"), len(data))
        except SdoAbortError as error:
            return {"error": str(error), "abort_code": error.code}
        except (BringUpError, TimeoutError, ValueError) as error:
            return {"error": str(error)}
        return {"data": data.hex()}


def is_served(path: Path) -> bool:
    """Whether a process listens there."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
        return _peer(probe) in (os.getuid(), 0)


def ask(
    path: Path, slave: int, index: int, subindex: int, value: bytes | None = None
) -> dict[str, Any]:
    """Ask the loop that listens at `path`; return its answer: `data` in hex, or `error`.

    Raises
    ------
    OSError
        Nobody listens, or the answer does not come.
    """
    request = {"slave": slave, "index": index, "subindex": subindex}
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.settimeout(ANSWER_TIMEOUT_S)
        line.connect(str(path))
        if _peer(line) not in (os.getuid(), 0):
            raise PermissionError(f"{path}: its owner is another user")
        given = request | ({} if value is None else {"value": value.hex()})
        line.sendall(json.dumps(given).encode())
        answer = b""
        while not answer.endswith(b"\n"):
            part = line.recv(65536)
            if not part:
                break
            answer += part
    if not answer:
        raise ConnectionError(f"{path}: no answer")
    found = json.loads(answer)
    return found if isinstance(found, dict) else {"error": "not understood"}

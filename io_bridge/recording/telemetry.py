"""The telemetry process: newest images of a signal table over ZeroMQ, for live plots.

    python -m io_bridge.recording.telemetry TABLE ENDPOINT [--pid PID] [--rate HZ]

Each message has two parts: the producer's name, and a MessagePack map from signal path to value with `timestamp` in
seconds of CLOCK_MONOTONIC. This is what PlotJuggler's ZeroMQ subscriber takes without a plugin. A subscriber that is
slow or dead loses messages; the loop does not notice, and neither does this process.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import socket
import stat
import sys
import time
from urllib.parse import urlsplit

import msgspec
import zmq

from io_bridge.recording.producer import Producer
from rt_core.signals.layout import TableError
from rt_core.signals.table import SignalTable

RATE_HZ = 100.0
QUEUED = 100  # messages kept for a slow subscriber before they are dropped
ALLOWED = "tcp://127.0.0.1:PORT or ipc:///PATH"
IPC = "ipc://"
LONGEST_SOCKET_PATH = 107
LOCAL_HOSTS = ("127.0.0.1", "[::1]", "localhost")


class EndpointError(ValueError):
    """An endpoint that cannot be, or that is open to other machines."""


def check_endpoint(endpoint: str) -> None:
    """Refuse an address that is not local: there are no keys yet, so nobody else may listen.

    Raises
    ------
    EndpointError
        The message names the endpoint and the allowed ones.
    """
    path = socket_file(endpoint)
    if path is not None:
        _check_file(endpoint, path)
        return
    try:
        parts = urlsplit(endpoint)
    except ValueError:
        raise EndpointError(f"{endpoint!r} is not an endpoint; give {ALLOWED}") from None
    host = parts.netloc.rpartition(":")[0]
    if not (parts.scheme == "tcp" and host in LOCAL_HOSTS):
        raise EndpointError(f"{endpoint!r} is not local; give {ALLOWED}")


def socket_file(endpoint: str) -> str | None:
    """Return the file of an `ipc` endpoint; None of another one."""
    return endpoint.removeprefix(IPC) if endpoint.startswith(IPC) else None


def _check_file(endpoint: str, path: str) -> None:
    # ZeroMQ takes away whatever has the name of its socket
    if not path.startswith("/") or "\0" in path:
        raise EndpointError(f"{endpoint!r} is not an absolute path; give {ALLOWED}")
    if len(os.fsencode(path)) > LONGEST_SOCKET_PATH:
        raise EndpointError(
            f"{endpoint!r} is longer than {LONGEST_SOCKET_PATH} bytes, as long as the path of a socket may be"
        )
    if not os.path.isdir(os.path.dirname(path)):
        raise EndpointError(f"{endpoint!r}: there is no folder {os.path.dirname(path)!r}")
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise EndpointError(f"{endpoint!r}: {error.strerror}") from None
    if not stat.S_ISSOCK(found.st_mode):
        raise EndpointError(f"{endpoint!r} is there, and is not a socket; take another name")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(path)
        except OSError:
            # socket that a killed run has left
            return
    raise EndpointError(f"{endpoint!r}: another process has this socket; take another name")


def serve(table_path: str, endpoint: str, pid: int | None, rate_hz: float) -> int:
    """Publish until the table's producer has ended; return the number of messages.

    Raises
    ------
    EndpointError, OSError, TableError, zmq.ZMQError
        The endpoint or the table cannot be had.
    """
    check_endpoint(endpoint)
    # an ipc socket is a file: for its owner only
    os.umask(0o177)
    context = zmq.Context()
    ended = Producer(table_path, pid)
    sent, ours = 0, None
    try:
        with SignalTable.attach(table_path) as table, context.socket(zmq.PUB) as publisher:
            publisher.setsockopt(zmq.SNDHWM, QUEUED)
            publisher.setsockopt(zmq.LINGER, 0)
            publisher.bind(endpoint)
            ours = _identity(endpoint)
            seen: dict[str, int] = {}
            while not ended():
                for producer in table.producers:
                    number, values = table.latest_with_number(producer.name)
                    if number and number != seen.get(producer.name):
                        seen[producer.name] = number
                        sample = dict(zip(producer.signals, values.tolist(), strict=False))
                        sample["timestamp"] = time.monotonic()
                        publisher.send_multipart(
                            [producer.name.encode(), msgspec.msgpack.encode(sample)]
                        )
                        sent += 1
                time.sleep(1.0 / rate_hz)
    finally:
        ended.close()
        context.destroy(linger=0)
        if ours is not None and _identity(endpoint) == ours:
            with contextlib.suppress(OSError):
                os.unlink(endpoint.removeprefix(IPC))
    return sent


def _identity(endpoint: str) -> tuple[int, int] | None:
    """Return which file an `ipc` endpoint is, if there is one."""
    path = socket_file(endpoint)
    if path is None:
        return None
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def main(arguments: list[str] | None = None) -> int:
    """Run the telemetry process; 0 when the producer has ended, 2 on a bad start."""
    parser = argparse.ArgumentParser(
        prog="python -m io_bridge.recording.telemetry", description=__doc__
    )
    parser.add_argument("table", help="path of the signal table")
    parser.add_argument("endpoint", help="tcp://127.0.0.1:PORT or ipc:///PATH")
    parser.add_argument("--pid", type=int, help="process of the producer")
    parser.add_argument("--rate", type=float, default=RATE_HZ, help="pictures a second")
    options = parser.parse_args(arguments)
    if not 0.1 <= options.rate <= 1000.0:
        parser.error(f"--rate {options.rate}: 0.1 to 1000")
    try:
        sent = serve(options.table, options.endpoint, options.pid, options.rate)
    except (OSError, EndpointError, TableError, zmq.ZMQError) as error:
        print(f"telemetry: {error}", file=sys.stderr)
        return 2
    print(f"sent {sent} messages")
    return 0


if __name__ == "__main__":
    sys.exit(main())

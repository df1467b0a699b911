"""Words to the service manager, as `sd_notify(3)` has them: a datagram to the socket that it names."""

from __future__ import annotations

import contextlib
import os
import socket

MICROSECOND = 1e-6


def notify(*lines: str) -> bool:
    """Send `READY=1`, `STATUS=...`, `WATCHDOG=1`, `STOPPING=1`; False: nobody listens."""
    where = os.environ.get("NOTIFY_SOCKET", "")
    if not where.startswith(("/", "@")):
        return False
    address = f"\0{where[1:]}" if where.startswith("@") else where
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as one:
        one.setblocking(False)
        with contextlib.suppress(OSError):
            one.sendto("\n".join(lines).encode(), address)
            return True
    return False


def watchdog_s() -> float | None:
    """Return how often the manager wants to hear `WATCHDOG=1`, s; None: it does not watch this process."""
    if os.environ.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return None
    asked = os.environ.get("WATCHDOG_USEC", "")
    return int(asked) * MICROSECOND if asked.isdecimal() and int(asked) > 0 else None

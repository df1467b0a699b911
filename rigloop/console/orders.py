"""Orders of the program that has started this one: lines on standard input, whose end interrupts this process."""

from __future__ import annotations

import os
import signal
import threading

LONGEST = 4096  # bytes of a line; a longer one is no order

_heard: set[str] = set()


def listen() -> None:
    """Hear orders from now on, and have this process interrupted, as by Ctrl-C, as soon as its standard input ends."""
    threading.Thread(target=_listen, name="orders", daemon=True).start()


def was_heard(order: str) -> bool:
    """Decide if a line was read so far."""
    return order in _heard


def _listen() -> None:
    rest = b""
    while read := os.read(0, LONGEST):
        *lines, rest = (rest + read).split(b"\n")
        _heard.update(line.decode(errors="replace") for line in lines)
        rest = rest[-LONGEST:]
    os.kill(os.getpid(), signal.SIGINT)

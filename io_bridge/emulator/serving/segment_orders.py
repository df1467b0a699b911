"""Orders to an emulated segment while it runs: cables and supplies, one a line of standard input."""

from __future__ import annotations

import os
import select
import sys
import time

from io_bridge.emulator.segment import Segment

ORDERS = ("unplug", "plug", "power-off", "power-on")


class Orders:
    """Reads lines such as ``unplug 1`` and obeys; a wrong one is reported on standard error.

    ``unplug I`` pulls the cable that leads from slave I towards the master; the number after the last slave's is
    the second cable of a master with redundancy.

    Parameters
    ----------
    source : int
        File descriptor to read.

    Attributes
    ----------
    obeyed : list of (str, int)
        The orders carried out, and their times (CLOCK_MONOTONIC, ns).
    """

    def __init__(self, source: int = 0) -> None:
        self._source: int | None = source
        self._text = b""
        self.obeyed: list[tuple[str, int]] = []

    def obey(self, segment: Segment) -> None:
        """Carry out the orders since the last call; between two frames."""
        while self._source is not None and select.select([self._source], [], [], 0)[0]:
            read = os.read(self._source, 4096)
            if not read:
                self._source = None
            self._text += read
        *lines, self._text = self._text.split(b"\n")
        for line in lines:
            order = line.decode(errors="replace").strip()
            if order:
                said = carry_out(segment, order)
                if not said:
                    self.obeyed.append((order, time.monotonic_ns()))
                print(said or order, file=sys.stderr if said else sys.stdout, flush=True)


def carry_out(segment: Segment, order: str) -> str:
    """Carry out one order; return its mistake, or nothing."""
    word, _, position = order.partition(" ")
    if word not in ORDERS or not position.strip().isdecimal():
        return f"{order!r}: write {', '.join(ORDERS)}, and a position, as in `unplug 1`"
    try:
        getattr(segment, word.replace("-", "_"))(int(position))
    except ValueError as error:
        return f"{order!r}: {error}"
    return ""

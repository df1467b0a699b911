"""Orders of the program which started a run: to arm, and changes, a line of JSON each, and a line in answer.

They come over the supervisor's standard input, which also tells it when the program has ended.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from rig_configs.json_message import decode
from rig_configs.schema import Rig
from rigloop.live_values.journal import JOURNAL
from rigloop.live_values.refused import LiveMistake, LiveOwnedError, LiveRefusedError, shown
from rigloop.live_values.writer import LiveWriter
from rt_core.signals.layout import TableError
from rt_core.signals.table import SignalTable

LONGEST_LINE = 1 << 16
STDIN = 0
ARM = b"arm"
"""It begins a line of its own, for a run that waits; CLOCK_MONOTONIC in ns may follow, after which it is void."""
SWITCH_S = 0.0002


class LiveOrder(msgspec.Struct, forbid_unknown_fields=True):
    """A change that a program asks for: values, or stimuli to begin or end."""

    number: int
    author: str
    values: dict[str, Any] = {}  # as `LiveWriter.write` takes and checks them; a list for a pair
    begin: tuple[str, ...] = ()
    end: tuple[str, ...] = ()
    until_ns: int = 0  # CLOCK_MONOTONIC; not carried out after it, where it is not 0


class Told(msgspec.Struct):
    """A mistake in an answer; the value as text."""

    name: str
    value: str | None
    problem: str
    remedy: str


class Shown(str):
    """A value as it was shown at the other end."""

    def __repr__(self) -> str:
        return str(self)


class LiveAnswer(msgspec.Struct, omit_defaults=True):
    """The answer to an order: the number of the change, or every mistake, or why nothing can be changed at all."""

    number: int
    sequence: int = 0
    refused: tuple[Told, ...] = ()
    error: str = ""

    def result(self) -> int:
        """Return the number of the change.

        Raises
        ------
        LiveRefusedError
            With every mistake.
        LiveOwnedError
            Nothing can be changed from here; the message says why.
        """
        if self.refused:
            raise LiveRefusedError(
                LiveMistake(
                    told.name,
                    None if told.value is None else Shown(told.value),
                    told.problem,
                    told.remedy,
                )
                for told in self.refused
            )
        if self.error:
            raise LiveOwnedError(self.error)
        return self.sequence


class LiveOrders:
    """The supervisor's end: it takes lines of any thread, and carries them out while a table is there.

    Attributes
    ----------
    may_arm : bool
        An order to arm has come, for a run that waits.
    """

    def __init__(self) -> None:
        self.may_arm = False
        self._lock = threading.Lock()
        self._make: Callable[[], LiveWriter] | None = None
        self._writer: LiveWriter | None = None

    @contextlib.contextmanager
    def serving(self, table: SignalTable, rig: Rig, folder: Path) -> Iterator[None]:
        """Carry orders out on this table as long as the context lasts.

        The writer is made with the first order: until then another process may own it.
        """
        with self._lock:
            self._make = lambda: LiveWriter(table, rig, folder)
        try:
            yield
        finally:
            with self._lock:
                writer, self._writer, self._make = self._writer, None, None
                if writer is not None:
                    writer.close()

    def take(self, line: bytes) -> bytes:
        """Carry out one line; return the line in answer."""
        try:
            order = decode(line, type=LiveOrder)
        except (msgspec.DecodeError, ValueError) as error:
            answer = LiveAnswer(0, error=f"no order: {error}")
        else:
            with self._lock:
                answer = self._carried_out(order)
        return msgspec.json.encode(answer) + b"\n"

    def _carried_out(self, order: LiveOrder) -> LiveAnswer:
        try:
            if self._make is None:
                return LiveAnswer(order.number, error="the rig does not run yet, or no longer")
            if 0 < order.until_ns < time.monotonic_ns():
                return LiveAnswer(order.number, error="the order came too late: give it again")
            if self._writer is None:
                self._writer = self._make()
            writer, by = self._writer, order.author
            if order.begin:
                sequence = writer.begin(order.begin, by, in_control=True)
            elif order.end:
                sequence = writer.end(order.end, by, in_control=True)
            else:
                sequence = writer.write(order.values, by, in_control=True)
            return LiveAnswer(order.number, sequence)
        except LiveRefusedError as error:
            told = (
                Told(m.name, None if m.value is None else shown(m.value), m.problem, m.remedy)
                for m in error.mistakes
            )
            return LiveAnswer(order.number, refused=tuple(told))
        except (LiveOwnedError, TableError) as error:
            return LiveAnswer(order.number, error=str(error))
        except OSError as error:
            return LiveAnswer(order.number, error=f"{JOURNAL}: {error.strerror}")


def follow_stdin(orders: LiveOrders) -> None:
    """Carry out the lines of standard input until it ends; answer where it is a socket, but not to `arm`."""
    # an order waits for the thread that shows the run no longer than this
    sys.setswitchinterval(SWITCH_S)
    answers = stat.S_ISSOCK(os.fstat(STDIN).st_mode)
    waiting = b""
    while part := os.read(STDIN, LONGEST_LINE):
        *lines, waiting = (waiting + part).split(b"\n")
        # whoever sends so long a line sends no order
        waiting = waiting[-LONGEST_LINE:]
        for line in lines:
            if line.split()[:1] == [ARM]:
                orders.may_arm |= _is_in_time(line)
            elif answers:
                with contextlib.suppress(OSError):
                    os.write(STDIN, orders.take(line))


def _is_in_time(line: bytes) -> bool:
    """Decide if an order to arm is still meant: this process may have stood still meanwhile."""
    until = line.split()[1:]
    return not until or (until[0].isdigit() and time.monotonic_ns() <= int(until[0]))

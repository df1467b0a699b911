"""Ctrl-C, SIGTERM and SIGHUP at any moment of a command: once, and never a traceback.

Before anything moves, the first one unwinds the command, which ends what it has started; the next ones change nothing.
While a run goes on they are collected instead (`collected`): the torque ramps out, and the run folder is completed.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
AT_EOF = signal.SIGUSR2
"""The end of the input sends this: of the others any may be ignored, as SIGINT is in the background of a script."""


class Interrupted(BaseException):
    """Somebody asked the command to end; no `except Exception` is meant to stop it."""


_caught: list[int] = []
_depth = 0
_so_far = ""


def say(so_far: str) -> None:
    """Have an interrupted command say how far it has come, until signals are collected."""
    global _so_far
    _so_far = so_far


def line(interrupted: Interrupted) -> str:
    """Return what an interrupted command says."""
    return f"interrupted ({interrupted}) {_so_far}".rstrip()


def _note(number: int, frame: FrameType | None) -> None:
    _caught.append(number)
    if _depth == 0 and len(_caught) == 1:
        raise Interrupted(signal.Signals(number).name)


def _note_eof(number: int, frame: FrameType | None) -> None:
    _note(int(signal.SIGINT), frame)


def arm() -> None:
    """Take the signals from now on, those excepted that the caller of the command ignores (nohup)."""
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _note)


def disarm() -> None:
    """Ignore the signals: nothing is left to be ended."""
    for number in (*SIGNALS, AT_EOF):
        signal.signal(number, signal.SIG_IGN)


def _read_to_the_end() -> None:
    while os.read(0, 4096):
        pass


def interrupt_at_eof(follow: Callable[[], None] = _read_to_the_end) -> None:
    """Have this process interrupted, as by Ctrl-C, as soon as its standard input ends, also where that is ignored.

    Parameters
    ----------
    follow : callable
        Reads it to its end, in a thread of its own.
    """

    signal.signal(AT_EOF, _note_eof)

    def watch() -> None:
        try:
            # its other end may be killed with something unread
            with contextlib.suppress(OSError):
                follow()
        finally:  # whatever goes wrong there ends the run rather than leave it to nobody
            os.kill(os.getpid(), AT_EOF)

    threading.Thread(target=watch, name="until-eof", daemon=True).start()


@contextlib.contextmanager
def collected() -> Iterator[list[int]]:
    """Collect the signals instead of being ended by them; the list grows as they come.

    One that comes meanwhile has been met when the context ends: what follows goes on.
    """
    global _depth
    say("")
    if threading.current_thread() is not threading.main_thread():
        yield []
        return
    before = {n: signal.getsignal(n) for n in SIGNALS}
    _depth += 1
    try:
        for number, handler in before.items():
            if handler is not signal.SIG_IGN:
                signal.signal(number, _note)
        yield _caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        _depth -= 1

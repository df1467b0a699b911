"""A console that outlives its terminal: what nobody can read any more ends no run."""

from __future__ import annotations

import contextlib
import sys
from typing import Any, TextIO

from rigloop.console.screen import Screen


class _Lasting:
    """A text file whose writing does not fail: the terminal was closed, the pipe has no reader, the disk is full."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError):
            self._file.write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            self._file.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def lasting_console(stderr: bool) -> Screen:
    """Return a console for a command that moves something."""
    return Screen(file=_Lasting(sys.stderr if stderr else sys.stdout))

"""Standard streams that are closed, or take nothing any more: no file takes their place, no command ends by them."""

from __future__ import annotations

import contextlib
import os
import sys

STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))


def open_closed() -> None:
    """Open the null device for each standard stream that the caller has closed.

    Else the next file or socket that is opened gets its number, and what a child prints goes into that.
    """
    for number, (name, mode) in enumerate(STREAMS):
        try:
            os.fstat(number)
        except OSError:
            # the lowest number that is free is this one
            os.open(os.devnull, os.O_RDWR)
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, until the end


def stdout_takes_nothing() -> bool:
    """Decide if the standard output refuses a line end."""
    try:
        sys.stdout.write("\n")
        sys.stdout.flush()
    except OSError:
        return True
    return False


def give_up_stdout(error: OSError) -> None:
    """Say that the standard output takes nothing more, and send what is still to come nowhere."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
    with contextlib.suppress(OSError):
        sys.stderr.write(f"standard output: cannot be written: {error.strerror}\n")

"""The end of a run's processes in bounded time, also of those that stand still."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time

from rigloop.host.children import STOP_TIMEOUT_S, reaped
from rigloop.live.lookout import Lookout
from rigloop.run_folder.process_state import Process, stands_still
from rt_core.signals.table import SignalTable

HEARTBEAT_S = 0.02
LOOK_S = 0.25


def beat_until_ended(
    shared: SignalTable, cycle: subprocess.Popen[str], loop: Process, lookout: Lookout, beat: int
) -> None:
    """Keep the heartbeat up through the ramp-out, which the stop ends and not a lost supervisor; end what is frozen."""
    until = time.monotonic() + STOP_TIMEOUT_S
    while cycle.poll() is None and time.monotonic() < until:
        beat += 1
        shared.publish({"supervisor/heartbeat": beat, "supervisor/stop": 1.0})
        lookout.look()
        if lookout.gives_up():
            kill(loop)
            return
        time.sleep(HEARTBEAT_S)


def kill(process: Process) -> None:
    """End a process at once; another one that has its number now is left alone."""
    if process.lives:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)


def end(child: subprocess.Popen[str], *, wake: bool = False) -> int | None:
    """Wait for a child that was asked to end; make it, if it does not. One that stands still is not waited for.

    Parameters
    ----------
    child : Popen
    wake : bool
        Let it go on, if it stands still: a recorder then writes what it has not yet. Never the loop: it would push.

    Returns
    -------
    int or None
        Its exit code; None if it was killed and is still there.
    """
    if wake and stands_still(child.pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(child.pid, signal.SIGCONT)
    for ask in (lambda: None, child.terminate):
        ask()
        until = time.monotonic() + STOP_TIMEOUT_S
        while time.monotonic() < until and not stands_still(child.pid):
            with contextlib.suppress(subprocess.TimeoutExpired):
                return child.wait(LOOK_S)
    return reaped(child)

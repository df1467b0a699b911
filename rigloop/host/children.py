"""The processes of a live run besides the supervisor; whatever happens, none of them stays behind.

The cycle process comes first of all, before the rig is read: it imports while the supervisor does, and waits on its
standard input for the run folder. So this module imports nothing that takes time.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rigloop.run_folder.not_started import NotStartedError

STOP_TIMEOUT_S = 10.0


def spawned(module: str, arguments: Sequence[str], log: Path) -> subprocess.Popen[str]:
    """Start `python -m module` that writes to a log, in a session of its own: Ctrl-C is for the supervisor."""
    with log.open("wb") as file:
        return subprocess.Popen(
            [sys.executable, "-P", "-m", module, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
            text=True,
        )


# how onlookers are started; one who starts many forks them from what is imported already
start: Callable[[str, Sequence[str], Path], Any] = spawned


@contextlib.contextmanager
def cycle_process() -> Iterator[subprocess.Popen[str]]:
    """Yield a cycle process that waits for its run folder; an end of file instead ends it."""
    # one arena and no thread pools: what the cycle process locks into memory stays small
    environment = os.environ | {
        "MALLOC_ARENA_MAX": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PYDANTIC_DISABLE_PLUGINS": "__all__",
    }
    # -P: a run started in a checkout takes the installed, compiled packages, not those beside it.
    # a session of its own: Ctrl-C is for the supervisor, which ramps out
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", "rigloop.live.cycle"],
        stdin=subprocess.PIPE,
        env=environment,
        start_new_session=True,
        text=True,
    )
    with ended(child):
        yield child


def commission(child: subprocess.Popen[str], folder: Path) -> None:
    """Tell a waiting cycle process its run folder. One that has died is found by its exit code."""
    assert child.stdin is not None
    with contextlib.suppress(BrokenPipeError):
        # a folder may have any name, also one with line ends
        child.stdin.write(json.dumps(str(folder.absolute())) + "\n")
        child.stdin.close()


@contextlib.contextmanager
def onlooker(
    module: str, folder: Path, producer: int, table: str, *arguments: str
) -> Iterator[subprocess.Popen[str]]:
    """Yield a process that only looks at the table, and ends by itself once the producer has ended."""
    log = folder / f"{module.rpartition('.')[2]}.log"
    try:
        child = start(module, ["--pid", str(producer), table, *arguments], log)
    except OSError as error:
        raise NotStartedError(f"{log}: cannot be written: {error.strerror}") from None
    with ended(child):
        yield child


def reaped(child: subprocess.Popen[str]) -> int | None:
    """Kill a child and return how it ended; None if it has not: a thread that gets no core cannot even die."""
    child.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        return child.wait(STOP_TIMEOUT_S)
    return None


@contextlib.contextmanager
def ended(child: subprocess.Popen[str]) -> Iterator[None]:
    """See to it that a child has ended: SIGTERM lets it ramp out, SIGKILL is the last resort."""
    try:
        yield
    finally:
        if child.stdin is not None and not child.stdin.closed:
            # it was never commissioned
            child.stdin.close()
        elif child.poll() is None:
            child.terminate()
        if child.poll() is None:
            from rigloop.run_folder.process_state import stands_still

            # a stopped process does not see SIGTERM
            if not stands_still(child.pid):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(STOP_TIMEOUT_S)
        reaped(child)

"""Tests of one build after the other, each in a child of a process that has imported pytest and its like already.

As a program it reads a line of JSON for each run, the environment and the longest time in s, from its input, and
answers with a line: killed or survived, and the end of what the tests printed.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

# nothing of ours, which may be what is changed
LARGE = ("pytest", "pydantic", "numpy", "typer", "rich.console")
LOOK_S = 0.005


class WarmTests:
    """A process that runs tests again and again.

    Parameters
    ----------
    options : sequence of str
        Of pytest.
    environment : dict
        Of the process; the build under test is first in its path.
    """

    def __init__(self, options: Sequence[str], environment: dict[str, str], folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, *options],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def outcome(self, more: dict[str, str], limit_s: float) -> tuple[str, str]:
        """Run the tests with `more` in their environment; killed or survived, and what they said."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps([more, limit_s]), file=self._process.stdin, flush=True)
        outcome, said = json.loads(self._process.stdout.readline())
        return outcome, said

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()


def _serve(options: list[str]) -> None:
    for name in LARGE:
        with suppress(ImportError):
            importlib.import_module(name)
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        more, limit_s = json.loads(line)
        with tempfile.TemporaryFile() as said:
            child = os.fork()
            if child == 0:
                _run(options, more, said.fileno())
            status = _wait(child, limit_s)
            said.seek(0)
            words = said.read()[-3000:].decode(errors="replace")
        answer = ("killed", "it hangs") if status is None else ("killed", words)
        if status == 0:
            answer = ("survived", words)
        print(json.dumps(answer), file=answers, flush=True)


def _run(options: list[str], more: dict[str, str], said: int) -> None:
    """Be the child: never return."""
    code = 70
    try:
        os.setsid()
        for end in (1, 2):
            os.dup2(said, end)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.environ.update(more)
        import pytest

        code = int(pytest.main(options))
        sys.stdout.flush()
    finally:
        os._exit(code)


def _wait(child: int, limit_s: float) -> int | None:
    """Return how the child ended; None: it was ended, with all that it had started."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return status
        time.sleep(LOOK_S)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


if __name__ == "__main__":
    # the folder of this file is no place to import from; the one that tests are run in is
    sys.path[0] = os.getcwd()
    _serve(sys.argv[1:])

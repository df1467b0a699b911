"""The supervisor of a run that a program starts: the `rigloop run` command, in a process of its own.

Whatever the program does, computes for seconds, throws, or dies, the supervisor's heartbeat goes on; it ramps out as
soon as its standard input ends, and that ends with the program.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import msgspec

from rigloop.run_folder.not_started import NotStartedError
from rigloop.run_folder.outcome import Outcome
from rigloop.run_folder.process_state import Process
from rigloop.run_folder.tables import table_of

STOP_TIMEOUT_S = (
    60.0  # ramp out, rings, verdict and report; on a busy machine most of it is the report
)
LAST_LINES = 3


class Supervisor:
    """A `rigloop run` that ends with this program.

    Parameters
    ----------
    arguments : sequence of str
        Of the command, behind `rigloop run`.
    cwd : Path, optional
        Where it runs.
    """

    def __init__(self, arguments: Sequence[str], cwd: Path | None = None) -> None:
        # files, not pipes: nobody reads while the run goes on
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self._notes: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        # -P: the installed packages, not a checkout in the working folder. A session of its own: Ctrl-C is for the
        # program, which decides when the run ends
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "rigloop", "run", *arguments, "--json", "--until-eof"],
            stdin=subprocess.PIPE,
            stdout=self._said,
            stderr=self._notes,
            cwd=cwd,
            start_new_session=True,
        )
        self.table = table_of(Process.of(self.process.pid))

    def arm(self) -> None:
        """Let a run that was started with `--hold` enable its drives and arm; one that has ended does not hear it."""
        if self.process.stdin is not None:
            with contextlib.suppress(OSError, ValueError):
                self.process.stdin.write(b"arm\n")
                self.process.stdin.flush()

    @property
    def ended(self) -> bool:
        """True: the process has ended."""
        return self.process.poll() is not None

    def stop(self, timeout_s: float = STOP_TIMEOUT_S) -> Outcome:
        """Have the torque ramp out and the run judged; return its verdict. It raises as `wait` does."""
        self.let_go()
        return self.wait(timeout_s)

    def let_go(self) -> None:
        """Have the torque ramp out and the run judged, and return at once."""
        if self.process.stdin is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.close()

    def wait(self, timeout_s: float | None = None) -> Outcome:
        """Wait until the run has ended by itself; return its verdict.

        Raises
        ------
        NotStartedError
            The run had not started; the message says why.
        TimeoutError
            It has not ended within the time.
        """
        try:
            self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"the run has not ended within {timeout_s:g} s") from None
        outcome = self.outcome
        if outcome is None:
            raise self.refusal()
        return outcome

    @property
    def outcome(self) -> Outcome | None:
        """The verdict of a run that has ended; None: it could not start."""
        answer = self._answer()
        return msgspec.convert(answer, Outcome) if "good" in answer else None

    def refusal(self) -> NotStartedError:
        """Return the error of a run that could not start."""
        answer = self._answer()
        mistakes = answer.get("mistakes") or answer.get("reasons") or self._last_lines()
        return NotStartedError("\n".join(map(str, mistakes)))

    def _answer(self) -> dict[str, Any]:
        self._said.seek(0)
        try:
            answer = json.loads(self._said.read())
        except ValueError:
            return {}
        return answer if isinstance(answer, dict) else {}

    def _last_lines(self) -> list[str]:
        self._notes.seek(0)
        lines = self._notes.read().decode(errors="replace").strip().splitlines()
        return lines[-LAST_LINES:] or [
            f"`rigloop run` ended with code {self.process.returncode} and no word"
        ]

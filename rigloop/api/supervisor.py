"""The supervisor of a run that a program starts: the `rigloop run` command, in a process of its own.

Whatever the program does, computes for seconds, throws, or dies, the supervisor's heartbeat goes on; it ramps out as
soon as its standard input ends, and that ends with the program.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import math
import numbers
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any
from weakref import WeakSet

import msgspec

from rig_configs.json_message import decode
from rigloop.live_values.orders import ARM, LONGEST_LINE, LiveAnswer, LiveOrder
from rigloop.live_values.refused import float_of, shown
from rigloop.live_values.writer import Value
from rigloop.run_folder.not_started import NotStartedError
from rigloop.run_folder.outcome import Outcome
from rigloop.run_folder.process_state import Process
from rigloop.run_folder.tables import table_of

STOP_TIMEOUT_S = (
    60.0  # ramp out, rings, verdict and report; on a busy machine most of it is the report
)
LAST_LINES = 3
BOX = "╭╮╰╯│─ "
ANSWER_S = 5.0


class NotAnsweringError(TimeoutError):
    """A supervisor has not answered in time; what it was asked for, it will not do."""


_made: WeakSet[Supervisor] = WeakSet()


def _let_go_in_a_child() -> None:
    """Close the lines to all supervisors in a process that was forked: a run ends with the program that started it."""
    for one in _made:
        one.forget()


os.register_at_fork(after_in_child=_let_go_in_a_child)


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
        self._line, theirs = socket.socketpair()
        self._asked, self._heard, self._is_silent = 0, b"", False
        self._lock = threading.Lock()
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "rigloop", "run", *arguments, "--json", "--until-eof"],
            stdin=theirs.fileno(),
            stdout=self._said,
            stderr=self._notes,
            cwd=cwd,
            start_new_session=True,
        )
        theirs.close()
        self._maker = os.getpid()
        _made.add(self)
        self.table = table_of(Process.of(self.process.pid))

    def arm(self, within_s: float) -> None:
        """Let a run that was started with `--hold` enable its drives and arm; one that has ended does not hear it.

        Parameters
        ----------
        within_s : float
            A supervisor that stands still does not do it when it goes on later than this.
        """
        until_ns = time.monotonic_ns() + round(1e9 * within_s)
        with self._lock, contextlib.suppress(OSError):
            self._line.settimeout(ANSWER_S)
            self._line.sendall(b"%s %d\n" % (ARM, until_ns))

    @property
    def is_ours(self) -> bool:
        """True: this process has started it, and is no fork of the one that has."""
        return self._maker == os.getpid()

    def forget(self) -> None:
        """Close this process's end of the line, which another process still has."""
        self._line.close()

    @property
    def ended(self) -> bool:
        """True: the process has ended."""
        return self.process.poll() is not None

    def stop(self, timeout_s: float = STOP_TIMEOUT_S) -> Outcome:
        """Have the torque ramp out and the run judged; return its verdict. It raises as `wait` does."""
        self.let_go()
        return self.wait(timeout_s)

    def let_go(self) -> None:
        """Have the torque ramp out and the run judged, and return at once. Harmless when repeated."""
        # also for whoever waits for an answer in another thread
        with contextlib.suppress(OSError):
            self._line.shutdown(socket.SHUT_RDWR)
        self._line.close()

    def ask(
        self,
        values: Mapping[str, Value],
        begin: Sequence[str],
        end: Sequence[str],
        author: str | None = None,
        timeout_s: float = ANSWER_S,
    ) -> int:
        """Have live values changed, or stimuli begun or ended; return the number of the change.

        Parameters
        ----------
        values, begin, end
            As of `LiveWriter`.
        author : str, optional
            For the journal; this user if not given.
        timeout_s : float
            For the answer. One that did not answer the last time is not waited for until it has.

        Raises
        ------
        LiveRefusedError
            With every mistake; nothing has changed.
        LiveOwnedError
            Nothing can be changed from here.
        NotStartedError
            The supervisor has ended.
        NotAnsweringError
            It does not answer; what it was asked for, it does not do later either.
        """
        with self._lock:
            self._refuse_if_silent()
            self._asked += 1
            plain = {str(name): _plain(value) for name, value in values.items()}
            by = _author() if author is None else author
            until_ns = time.monotonic_ns() + round(1e9 * timeout_s)
            order = LiveOrder(self._asked, by, plain, tuple(begin), tuple(end), until_ns)
            self._is_silent = True
            try:
                self._line.settimeout(timeout_s)
                self._line.sendall(msgspec.json.encode(order) + b"\n")
                while (answer := self._next_answer()).number not in (0, order.number):
                    pass  # of an order that was given up
                self._is_silent = False
            except TimeoutError:
                raise NotAnsweringError(
                    f"the supervisor has not answered within {timeout_s:g} s"
                ) from None
            except OSError:
                raise NotStartedError("the run has ended: nothing of it can be changed") from None
        return answer.result()

    def _refuse_if_silent(self) -> None:
        """Refuse a further order as long as the answer to the last one has not come."""
        if not self._is_silent:
            return
        try:
            self._line.settimeout(0.0)
            while self._next_answer().number not in (0, self._asked):
                pass
        except BlockingIOError:
            raise NotAnsweringError("the supervisor has not answered yet") from None
        except OSError:
            raise NotStartedError("the run has ended: nothing of it can be changed") from None
        self._is_silent = False

    def _next_answer(self) -> LiveAnswer:
        while b"\n" not in self._heard:
            part = self._line.recv(LONGEST_LINE)
            if not part:
                raise ConnectionResetError
            self._heard += part
        line, _, self._heard = self._heard.partition(b"\n")
        return decode(line, type=LiveAnswer)

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
        """Return the error of a run that could not start, or whose supervisor was killed."""
        answer = self._answer()
        if not answer and self.process.returncode < 0:
            name = signal.Signals(-self.process.returncode).name
            return NotStartedError(
                f"the supervisor was killed ({name}): a loop that ran has ended by itself; `rigloop report` with the "
                "run folder rebuilds the verdict"
            )
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
        # a mistake on the command line comes in a box
        said = [line for line in (line.strip(BOX) for line in lines) if line]
        return said[-LAST_LINES:] or [
            f"`rigloop run` ended with code {self.process.returncode} and no word"
        ]


def _author() -> str:
    try:
        return f"{getpass.getuser()}, Python"
    except (KeyError, OSError):  # a user without a name
        return f"uid {os.getuid()}, Python"


def _plain(value: object) -> object:
    """Return a value as JSON has it; what has no number there is refused by name at the other end."""
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        number = float_of(value)
        return number if math.isfinite(number) else repr(number)
    return value if value is None or isinstance(value, bool | str) else shown(value)

"""The place that a page has its cycles from: a rig of a service, a run that goes on, or a recorded one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rigloop.protocol.answers import SignalRow
from rigloop.protocol.description import ToDescribe

OF_NO_TASK = ("supervisor", "live")  # producers without a record of their own


class SourceGoneError(RuntimeError):
    """The service, or the run, is not there any more; the message says which."""


class SourceRefusedError(RuntimeError):
    """A command was refused, and nothing was changed; the message says why."""


@dataclass(frozen=True)
class Piece:
    """Cycles of one task, without a hole but those that the loop skipped.

    Attributes
    ----------
    t_ns : ndarray of int64, shape (n,)
        Nominal times since the first cycle.
    columns : dict of str to ndarray, shape (n,)
    complete_to_ns : int
        All cycles before this are there.
    """

    t_ns: NDArray[np.int64]
    columns: dict[str, NDArray[np.float64]]
    complete_to_ns: int


@dataclass(frozen=True)
class Moment:
    """The state of a source, as the page shows it.

    Attributes
    ----------
    run : str
        Folder of the run whose cycles `capture` returns; empty: there are none.
    number : int
        It counts up when another run begins.
    phase, state, control, needs_reset : str
        As a service's `status` has them.
    t_s : float
        Time since the first cycle.
    mine : bool
        This page is in control.
    words : tuple of str
        Sentences: the verdict, notices, faults on purpose.
    """

    run: str = ""
    number: int = 0
    phase: str = "idle"
    state: str = ""
    control: str = ""
    needs_reset: str = ""
    t_s: float = 0.0
    mine: bool = False
    words: tuple[str, ...] = field(default=())


class Source(ABC):
    """Signals, cycles and state of one rig, for one page.

    Attributes
    ----------
    description : ToDescribe
    signals : dict of str to SignalRow
    kind : str
        "service", "run" or "record".
    """

    description: ToDescribe
    signals: dict[str, SignalRow]
    kind: str

    @abstractmethod
    def moment(self) -> Moment:
        """Return the state of now.

        Raises
        ------
        SourceGoneError
        """

    @abstractmethod
    def capture(self, paths: Sequence[str], task: str, from_ns: int, to_ns: int) -> Piece:
        """Return the cycles of a task between two moments, as far as they are recorded, or as an answer takes.

        Raises
        ------
        SourceGoneError
        """

    @abstractmethod
    def newest(self, paths: Sequence[str]) -> dict[str, float]:
        """Return the newest values of some signals; none of them where no run goes on.

        Raises
        ------
        SourceGoneError
        """

    def command(self, name: str, **keys: object) -> str:
        """Do a command of the page; return a sentence.

        Raises
        ------
        SourceRefusedError
            The source does not do it.
        SourceGoneError
        """
        raise SourceRefusedError(f"{name}: this page only looks on; `rigloop serve` serves a rig")

    @abstractmethod
    def close(self) -> None:
        """Look away; whatever runs goes on. Harmless when repeated."""

    def recorded_in(self, path: str) -> str | None:
        """Return the task in whose record a signal is; None: it is no signal, or of no task."""
        row = self.signals.get(path)
        return None if row is None or row.task in OF_NO_TASK else row.task

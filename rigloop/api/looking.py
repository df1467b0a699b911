"""A run that goes on, as a program sees it, wherever it runs."""

from __future__ import annotations

import math
import numbers
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rig_configs.condition import Readable, holds, parse
from rigloop.api.columns import Columns
from rt_core.safety.trips import State

LOOK_S = 0.001


class RunEndedError(RuntimeError):
    """The run has ended before what was waited for; the message says what, and where the run is."""


class Newest(Protocol):
    """Newest values by path."""

    def __getitem__(self, path: str, /) -> float: ...

    def __contains__(self, path: object, /) -> bool: ...

    def __iter__(self) -> Iterator[str]: ...

    def __len__(self) -> int: ...

    def read(self, paths: Sequence[str], /) -> NDArray[np.float64]:
        """Return some of them, shape (n,)."""


class Looking(ABC):
    """The newest signals of a run, conditions on them, and its cycles as arrays.

    Attributes
    ----------
    signals : Newest
    folder : Path
        Of the run, on its machine.
    """

    signals: Newest
    folder: Path

    @property
    @abstractmethod
    def lives(self) -> bool:
        """True: the run goes on."""

    @property
    @abstractmethod
    def state(self) -> State:
        """State of the guards together; RUNNING once the torque follows."""

    @property
    @abstractmethod
    def t_s(self) -> float:
        """Time since the first cycle, s."""

    @abstractmethod
    def capture(
        self, paths: Sequence[str], seconds: float, *, before_s: float = 0.0, at: str | None = None
    ) -> Columns:
        """Return every cycle of some signals from now on, or from before."""

    @abstractmethod
    def close(self) -> None:
        """Look away; the run goes on."""

    def newest(self, paths: Sequence[str]) -> Readable:
        """Return the newest values of some signals, or of each that is asked for where there are none."""
        return self.signals

    def wait_until(self, condition: str | Callable[[Newest], bool], timeout_s: float) -> float:
        """Wait until a condition holds for the newest values.

        They are looked at every millisecond, which a shorter moment may escape: look for it in what `capture` returns.

        Parameters
        ----------
        condition : str or callable
            As `rig_configs.condition.parse` reads it, or a function of the signals.
        timeout_s : float

        Returns
        -------
        float
            Time since the first cycle, s.

        Raises
        ------
        ConditionError, KeyError
            The text is no condition, or nothing writes a signal of it.
        TimeoutError
            It did not hold within the time; the message has the last values.
        RunEndedError
            The run ended meanwhile.
        """
        if not callable(condition) and not isinstance(condition, str):
            raise TypeError(
                f"condition = {condition!r:.60}: give text, or a function of the signals"
            )
        at_least_zero("timeout_s", timeout_s, endless=True)
        parsed = None if callable(condition) else parse(condition)
        paths = tuple(one.path for group in parsed or () for one in group)
        until = time.monotonic() + timeout_s
        while True:
            seen = self.newest(paths)
            if holds(parsed, seen) if parsed is not None else condition(self.signals):  # type: ignore[operator]
                return self.t_s
            if not self.lives:
                raise RunEndedError(f"the run ended before {_named(condition)}: {self.folder}")
            if time.monotonic() >= until:
                last = ", ".join(f"{path} = {seen[path]:.6g}" for path in paths)
                words = f"{_named(condition)}: not within {timeout_s:g} s"
                raise TimeoutError(f"{words}; last: {last}" if last else words)
            time.sleep(LOOK_S)


def at_least_zero(name: str, seconds: float, *, endless: bool = False) -> None:
    """Refuse a time that is not a number of seconds from 0 on; if `endless`, an infinite one is good, too.

    Raises
    ------
    TypeError, ValueError
    """
    if isinstance(seconds, bool) or not isinstance(seconds, numbers.Real):
        raise TypeError(f"{name} = {seconds!r:.60}: give a number of seconds")
    if not seconds >= 0.0 or (seconds == math.inf and not endless):
        raise ValueError(
            f"{name} = {seconds}: give seconds, 0 or more{' and finite' * (not endless)}"
        )


def _named(condition: object) -> str:
    return repr(condition) if isinstance(condition, str) else "the condition held"

"""A change of live values that is refused: every mistake with name, value, limit and remedy; nothing has changed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import SupportsFloat

from rig_configs.plain import line

MOST_TOLD = 20
MOST_CHARACTERS = 300


def float_of(number: SupportsFloat) -> float:
    """Return a number as a float; infinite where it is a whole number beyond any."""
    try:
        return float(number)
    except OverflowError:
        return math.inf


def shown(value: object) -> str:
    """Return a value as a message has it."""
    try:
        return f"{value!r:.60}"
    except ValueError:  # Python prints no whole number of thousands of digits
        return "a whole number of thousands of digits"


@dataclass(frozen=True)
class LiveMistake:
    """One mistake of a change.

    Attributes
    ----------
    name : str
        Of the live value or stimulus.
    value : object
        As it was given; None for a stimulus.
    problem, remedy : str
        The limit that it breaks, and what to do.
    """

    name: str
    value: object
    problem: str
    remedy: str

    def __str__(self) -> str:
        given = "" if self.value is None else f" = {shown(self.value)}"
        return line(f"{self.name}{given}: {self.problem}; {self.remedy}", MOST_CHARACTERS)


class LiveRefusedError(ValueError):
    """A change that was refused as a whole; `mistakes` has every reason."""

    def __init__(self, mistakes: Iterable[LiveMistake]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("\n".join(self.lines))

    @property
    def lines(self) -> tuple[str, ...]:
        """One line a mistake, at most `MOST_TOLD` of them."""
        left = len(self.mistakes) - MOST_TOLD
        rest = (f"and {left} more",) if left > 0 else ()
        return (*map(str, self.mistakes[:MOST_TOLD]), *rest)


class LiveOwnedError(RuntimeError):
    """Another process writes the live values of this run; there is one writer at a time."""

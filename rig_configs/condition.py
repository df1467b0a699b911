"""Conditions on signals as text: comparisons with numbers, joined by `and` and `or`. Nothing of a text is evaluated."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from rt_core.names import PATH

LONGEST = 2000  # characters
OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
COMPARISON = re.compile(
    rf"\s*(?:(?P<plain>{PATH.pattern})|abs\(\s*(?P<size>{PATH.pattern})\s*\))"
    r"\s*(?P<operator><=|>=|==|!=|<|>)\s*(?P<number>[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*"
)


class Readable(Protocol):
    """Newest values by path."""

    def __getitem__(self, path: str, /) -> float: ...


@dataclass(frozen=True)
class Comparison:
    """A signal, or its absolute value, beside a number."""

    path: str
    is_size: bool
    operator: str
    number: float

    def holds(self, signals: Readable) -> bool:
        """Decide for the newest values."""
        value = signals[self.path]
        return OPERATORS[self.operator](abs(value) if self.is_size else value, self.number)


Condition: TypeAlias = tuple[tuple[Comparison, ...], ...]
"""One of these has to hold, with all of its comparisons."""


class ConditionError(ValueError):
    """A text that is no condition; the message says what is."""


def parse(text: str) -> Condition:
    """Read a condition: `wheel/angle_rad > 0.5`, `abs(guard/torque_nm) >= 2 and guard/state == 3`.

    `and` binds closer than `or`.

    Raises
    ------
    ConditionError
    """
    if len(text) > LONGEST:
        raise ConditionError(f"a condition of {len(text)} characters: at most {LONGEST}")
    return tuple(
        tuple(_comparison(part, text) for part in re.split(r"\sand\s", group))
        for group in re.split(r"\sor\s", text)
    )


def holds(condition: Condition, signals: Readable) -> bool:
    """Decide if a condition holds for the newest values of signals."""
    return any(all(one.holds(signals) for one in group) for group in condition)


def _comparison(part: str, text: str) -> Comparison:
    found = COMPARISON.fullmatch(part)
    if found is None:
        raise ConditionError(
            f"{text!r}: {part.strip()!r} is not a comparison: write `signal < number`, with one "
            f"of {' '.join(OPERATORS)}, the signal perhaps within abs()"
        )
    try:
        number = float(found["number"])
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ConditionError(f"{text!r}: {found['number']!r} is not a finite number")
    path = found["plain"] or found["size"]
    return Comparison(path, found["size"] is not None, found["operator"], number)

"""The rule for numbers of a file: one for each key that takes a number, whatever it means.

Between the bounds squares and products of several numbers stay numbers, and a time fits into 64 bits of
nanoseconds. Narrower limits of a key stand beside it in its schema. `Real` may be 0 or of either sign.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from rt_core.settings import NonZero, Refusal

LARGEST = 1e15  # as in mechanism files, `codegen.system.reading`
SMALLEST = 1e-15  # but 0
LONGEST_S = 86_400.0
REMEDY = "write it in the unit that the key's name ends in"


def number_problem(
    value: object, smallest: float = SMALLEST, largest: float = LARGEST
) -> str | None:
    """Return the reason why nobody can calculate with `value`; None also for a value of another type."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not math.isfinite(value):
        return f"is not a finite number, limit ±{largest:g}"
    if abs(value) > largest:
        return f"is beyond the limit of ±{largest:g}"
    if value and abs(value) < smallest:
        return f"is nearer to 0 than the limit of ±{smallest:g}, and is not 0"
    return None


def _bounded(smallest: float = SMALLEST, largest: float = LARGEST) -> BeforeValidator:
    def check(value: Any) -> Any:
        problem = number_problem(value, smallest, largest)
        if problem:
            raise Refusal(problem, REMEDY)
        return value

    return BeforeValidator(check)


def strange_numbers(value: Any, key: str = "") -> Iterator[tuple[str, Any, str]]:
    """Yield key, value and problem of each number in tables and lists that is not to be calculated with."""
    waiting = [(key, value)]
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, dict):
            inner = ((f"{key}.{name}" if key else str(name), v) for name, v in value.items())
            waiting += reversed(list(inner))
        elif isinstance(value, list):
            inner = ((f"{key}.{place}" if key else str(place), v) for place, v in enumerate(value))
            waiting += reversed(list(inner))
        elif problem := number_problem(value):
            yield key, value, problem


def _all_bounded(value: Any) -> Any:
    found = [
        f"{key} = {number!r} {problem}" if key else problem
        for key, number, problem in strange_numbers(value)
    ]
    if found:
        raise Refusal(", ".join(found), REMEDY)
    return value


# for schemas; those that are no types stand beside the limits of a part, which its own room states
IN_FILE = _bounded()
IN_S, IN_MS, IN_US = (
    _bounded(least, LONGEST_S * n) for least, n in ((1e-9, 1), (1e-6, 1e3), (1e-3, 1e6))
)  # a day at most
Bounded = Annotated[Any, BeforeValidator(_all_bounded)]
Real = Annotated[float, IN_FILE]
Scale = Annotated[NonZero, IN_FILE]
Positive = Annotated[Real, Field(gt=0.0)]
NonNegative = Annotated[Real, Field(ge=0.0)]
Percent = Annotated[Real, Field(ge=0.0, le=100.0)]
NonNegativeS = Annotated[float, Field(ge=0.0), IN_S]
PositiveS = Annotated[float, Field(gt=0.0), IN_S]
PositiveMs = Annotated[float, Field(gt=0.0), IN_MS]
NonNegativeUs = Annotated[float, Field(ge=0.0), IN_US]
PositiveUs = Annotated[float, Field(gt=0.0), IN_US]

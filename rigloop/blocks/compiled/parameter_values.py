"""A value of a parameter against its declaration: type, limits, length, order."""

from __future__ import annotations

from collections.abc import Iterator

from rig_configs.numbers import LARGEST, number_problem
from rigloop.blocks.compiled.declaration import Parameter


def value_problems(parameter: Parameter, value: object) -> Iterator[str]:
    """Find what keeps a value from being that of a parameter; the rig's schema has seen its type."""
    kind = parameter.type
    if kind == "choice":
        if value not in parameter.choices:
            yield f"is none of {', '.join(parameter.choices)}"
        return
    if kind == "list":
        if not isinstance(value, list):
            yield "is not a list of numbers"
            return
        if not parameter.fewest <= len(value) <= parameter.longest:
            yield f"has {len(value)} numbers, {parameter.fewest} to {parameter.longest} are allowed"
        if parameter.rising:
            yield from falling(value)
        for place, number in enumerate(value):
            if problem := number_problem(number):
                yield f"number {place} {problem}"
            for sign, limit in _broken(parameter, number):
                yield f"number {place} is {number:g}, must be {sign} {limit:g}"
        return
    if kind in ("samples", "expression"):
        return
    if isinstance(value, bool) or not isinstance(value, int if kind == "whole" else int | float):
        yield f"is not a {'whole ' if kind == 'whole' else ''}number"
        return
    if problem := number_problem(value, largest=2.0**53 if kind == "whole" else LARGEST):
        yield problem
    for sign, limit in _broken(parameter, value):
        yield f"must be {sign} {limit:g}"


def falling(values: list[float]) -> Iterator[str]:
    """Find the first number of a list that is not above the one before."""
    for place in range(1, len(values)):
        if not values[place] > values[place - 1]:
            yield (
                f"does not rise: number {place} is {values[place]:g}, "
                f"the one before {values[place - 1]:g}"
            )
            return


def holds(value: float, sign: str, limit: float) -> bool:
    """Decide if a value is on the side of its limit that `>=`, `<=`, `>` or `<` says."""
    signs = {">=": float.__ge__, "<=": float.__le__, ">": float.__gt__, "<": float.__lt__}
    return signs[sign](float(value), float(limit))


def _broken(parameter: Parameter, value: float) -> list[tuple[str, float]]:
    return [(s, limit) for s, limit in parameter.limits if not holds(value, s, limit)]

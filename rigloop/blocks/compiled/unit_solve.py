"""Units of a block's ports, from its rules and the units of the signals that are wired to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, Self, TypeVar

from rigloop.blocks.compiled.unit_rule import UnitRule


class UnitLike(Protocol):
    """The operations on units: they are multiplied and raised to a power."""

    def __mul__(self, other: Self, /) -> Self: ...
    def __pow__(self, exponent: int, /) -> Self: ...


U = TypeVar("U", bound=UnitLike)


def solve_units(
    rules: Mapping[str, UnitRule],
    wired: Mapping[str, U | None],
    parse: Callable[[str], U],
    key: U | None = None,
) -> dict[str, U | None]:
    """Find the unit of every port.

    Parameters
    ----------
    rules : mapping of port to UnitRule
        Of all inputs and outputs.
    wired : mapping of port to unit
        Of the inputs that are wired: the unit of the signal, None where nobody knows it.
    parse : callable
        From the name of a unit, or `1`, to the unit.
    key : unit, optional
        What the block says under its key `unit`.

    Returns
    -------
    dict of port to unit
        None where it cannot be known. An input with the rule `any` that is not wired has the unit 1.

    Raises
    ------
    ValueError
        As `parse`.
    """
    units: dict[str, U | None] = {}
    for name in rules:
        _follow(name, rules, wired, parse, key, units)
    return units


def _follow(
    name: str,
    rules: Mapping[str, UnitRule],
    wired: Mapping[str, U | None],
    parse: Callable[[str], U],
    key: U | None,
    units: dict[str, U | None],
) -> U | None:
    # a declaration has no circles, and at most as many ports as it may
    if name not in units:
        rule = rules[name]
        made: U | None = parse("1")
        if rule.kind == "any":
            made = wired.get(name, made)
        elif rule.kind == "key":
            made = key
        for factor in rule.factors:
            unit = (
                _follow(factor.name, rules, wired, parse, key, units)
                if factor.is_port
                else parse(factor.name)
            )
            made = None if made is None or unit is None else made * unit**factor.power
        units[name] = made
    return units[name]

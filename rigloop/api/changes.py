"""Changes of a rig that runs, as a program gives them: checked by name before they go anywhere."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import Any

from rigloop.live_values.refused import LiveMistake, LiveRefusedError, float_of
from rigloop.live_values.writer import Value


def together(values: Mapping[str, Value] | None, named: Mapping[str, Value]) -> dict[str, Value]:
    """Return the values of a mapping and those that were given by name.

    Raises
    ------
    TypeError
        The first is no mapping.
    """
    if values is not None and not isinstance(values, Mapping):
        raise TypeError(f"values = {values!r:.60}: give a mapping from name to value")
    return {**(values or {}), **named}


def stimuli_named(what: str, names: Sequence[str]) -> Sequence[str]:
    """Return the names of stimuli.

    Raises
    ------
    TypeError, ValueError
        There is none, or a name that is not text.
    """
    if not names:
        raise ValueError(f"{what}: give the name of a stimulus, or of several")
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{what}: {name!r:.60}: give the name of a stimulus, as text")
    return names


def sendable(values: Mapping[str, Value]) -> dict[str, Any]:
    """Return values as a service takes them: floats, or pairs of a float and its unit.

    Raises
    ------
    LiveRefusedError
        Some are neither; what is not finite, or beyond a limit, is refused by the service.
    """
    found: dict[str, Any] = {}
    wrong = []
    for name, value in values.items():
        number, *unit = value if isinstance(value, tuple | list) and len(value) == 2 else (value,)
        is_number = isinstance(number, numbers.Real) and not isinstance(number, bool)
        if not isinstance(name, str) or not is_number or not all(isinstance(u, str) for u in unit):
            wrong.append(
                LiveMistake(
                    f"{name!s:.60}",
                    value,
                    "is not a number, nor a pair (number, unit)",
                    "give one within its limits, which `rigloop service live` lists",
                )
            )
            continue
        found[name] = [float_of(number), *unit] if unit else float_of(number)
    if wrong:
        raise LiveRefusedError(wrong)
    return found

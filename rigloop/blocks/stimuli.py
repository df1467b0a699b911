"""The signals and conditions of stimuli: blocks of the library without inputs, and comparisons of signals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from rig_configs.condition import Condition, ConditionError, parse
from rig_configs.mistakes import Mistake, from_validation, near
from rigloop.blocks.compiled.kind import CompiledKind, library

SIGNALS = library(("step", "ramp", "sine", "sweep", "noise", "file"))
CONDITIONS = ("when", "until")


def condition_of(text: object) -> Condition:
    """Return a condition; an empty one of what is none, which `table_mistakes` finds."""
    try:
        return parse(text) if isinstance(text, str) else ()
    except ConditionError:
        return ()


def wires(table: Mapping[str, Any]) -> dict[str, str]:
    """Return the ports of both conditions of a table, each with the signal that it compares."""
    return {
        f"{key}/{place}": one.path
        for key in CONDITIONS
        for place, one in enumerate(one for group in condition_of(table.get(key)) for one in group)
    }


def signal_mistakes(file: str, at: str, signal: Mapping[str, Any]) -> Iterator[Mistake]:
    """Find what is wrong with the table of a signal, which is that of a block without ports.

    Parameters
    ----------
    at : str
        Key of the table.
    """
    kind = SIGNALS.get(str(signal.get("kind")))
    if kind is None:
        known = near(str(signal.get("kind")), SIGNALS)
        yield Mistake(file, f"{at}.kind", "no signal of a stimulus", known, signal.get("kind"))
        return
    for key in ("reads", "writes"):
        if key in signal:
            problem = "a signal within a stimulus has no ports"
            yield Mistake(file, f"{at}.{key}", problem, "leave it out")
    try:
        block = kind.schema.model_validate(signal)
    except ValidationError as error:
        found = from_validation(file, error, kind.schema, signal)
        yield from (replace(mistake, key=f"{at}.{mistake.key}") for mistake in found)
        return
    for mistake in kind.mistakes(file, "s", block.model_dump()):
        yield replace(mistake, key=mistake.key.replace("blocks.s", at, 1))


def signal_of(block: Any) -> tuple[CompiledKind, dict[str, Any]]:
    """Return the kind and the table of the signal of a good stimulus."""
    kind = SIGNALS[block.signal["kind"]]
    return kind, kind.schema.model_validate(block.signal).model_dump()

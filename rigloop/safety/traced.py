"""The keys of a rig file that answer each hazard: those that there are, and those of one rig with their values."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from rig_configs.hazards import HAZARDS, Hazard
from rig_configs.schema import Rig
from rigloop.blocks.catalogue import kinds
from rigloop.blocks.keys import hazards_of, toml
from rigloop.blocks.kinds.guard import GuardBlock, guard_config, max_given_j
from rigloop.blocks.page import kind_tables, tables
from rigloop.compose.blocks import find_guards
from rigloop.judge.singing import most_tone_nm

NOT_SET = "–"


@dataclass(frozen=True)
class Limit:
    """A key of a rig file with its value, as text; where the file gives none, the default that holds."""

    key: str
    value: str

    def __str__(self) -> str:
        return f"{self.key} = {self.value}"


def keys_against() -> dict[Hazard, list[str]]:
    """Return for each hazard the keys of any rig file that answer it, each with its table or the kind of its block."""
    found: dict[Hazard, list[str]] = {hazard: [] for hazard in HAZARDS}
    every = [(table, "") for table in tables()]
    every += [(table, kind.name) for kind in kinds().values() for table in kind_tables(kind)]
    for table, kind_name in every:
        place = table.heading.split(", ")[0].strip("[]").replace(".NAME", "")
        if kind_name:
            place = place.replace("blocks", kind_name, 1)
        for key in table.keys:
            for hazard in key.hazards:
                path = f"{place}.{key.name}"
                if path not in found[hazard]:
                    found[hazard].append(path)
    return found


def limits_in(rig: Rig) -> dict[Hazard, list[Limit]]:
    """Return for each hazard the limits of a rig that answer it; keys of other kinds of blocks are not among them."""
    found: dict[Hazard, list[Limit]] = {hazard: [] for hazard in HAZARDS}
    for path, value, hazards in _marked(rig):
        for hazard in hazards:
            found[hazard].append(Limit(path, value))
    return found


def _marked(rig: Rig) -> Iterator[tuple[str, str, tuple[Hazard, ...]]]:
    for name, task in rig.tasks.items():
        yield from _of(f"tasks.{name}", task, {})
    for name, block in rig.blocks.items():
        yield from _of(f"blocks.{name}", block, defaults_of(rig, name))
    yield from _of("verdict", rig.verdict, _verdict_defaults(rig))


def defaults_of(rig: Rig, block: str) -> dict[str, Any]:
    """Return the values that hold where a guard's table gives none: those of its preset."""
    config = find_guards(rig).get(block)
    if config is None:
        return {}
    limits = guard_config(rig, block, config)
    return {key: getattr(limits, key) for key in GuardBlock.model_fields if hasattr(limits, key)}


def _verdict_defaults(rig: Rig) -> dict[str, Any]:
    guards = list(find_guards(rig).values())
    if len(guards) != 1:
        return {}  # each axis has its own
    return {
        "max_given_j": max_given_j(rig, guards[0]),
        "max_tone_nm": most_tone_nm(rig, guards[0]),
    }


def as_text(value: object) -> str:
    """Return a value as a rig file would have it, without the noise of arithmetic."""
    if value is None:
        return NOT_SET
    return f"{value:.6g}" if isinstance(value, float) else toml(value)


def _of(
    path: str, section: BaseModel, defaults: dict[str, Any]
) -> Iterator[tuple[str, str, tuple[Hazard, ...]]]:
    hints = typing.get_type_hints(type(section), include_extras=True)
    for name in type(section).model_fields:
        value = getattr(section, name)
        if hazards := hazards_of(hints[name]):
            holds = defaults.get(name) if value is None else value
            yield f"{path}.{name}", as_text(holds), hazards
        inner = value.items() if isinstance(value, dict) else [("", value)]
        for key, one in inner:
            if isinstance(one, BaseModel):
                yield from _of(".".join(filter(None, (path, name, key))), one, {})

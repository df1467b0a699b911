"""A linear constraint of angles and distances: sum of factor x coordinate stays as built, or is a given constant.

A differential is `terms = { left = 0.5, right = 0.5, carrier = -1 }`; a planetary gear with teeth z_s and z_r
`terms = { sun = z_s, ring = z_r, carrier = -(z_s + z_r) }`.
"""

from __future__ import annotations

from pydantic import Field

from codegen.system import fields
from codegen.system.fields import Name, Number
from codegen.system.system import System


class Entry(fields.Entry):
    terms: dict[Name, Number] = Field(max_length=100)
    constant: Number | None = None  # default: the sum as built


def add(entry: Entry, name: str, system: System) -> None:
    if not entry.terms:
        system.mistake("terms", None, "is empty", "name the coordinates with their factors")
        return
    pairs = [
        (system.scalar("terms", key), system.number("terms", value))
        for key, value in entry.terms.items()
    ]
    size = max(abs(factor) for _, factor in pairs)
    if not all(factor for _, factor in pairs):
        system.mistake("terms", None, "has a factor of zero", "leave that coordinate out")
        return
    built = sum(factor * coordinate.initial for coordinate, factor in pairs)
    total = built if entry.constant is None else system.number("constant", entry.constant)
    whole = system.graph.total((factor / size, coordinate.q) for coordinate, factor in pairs)
    row = system.row("", whole - total / size)
    system.show_reactions(row)

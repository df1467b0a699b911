"""A direction fixed on a body, given as it is in the file's pose: no coordinates of its own."""

from __future__ import annotations

from codegen.system import fields
from codegen.system.fields import Name, VectorValue
from codegen.system.system import System

STAGE = 2


class Entry(fields.Entry):
    body: Name
    direction: VectorValue


def add(entry: Entry, name: str, system: System) -> None:
    made = system.on_body("direction", entry.body, entry.direction, is_point=False)
    system.vectors[name] = made
    system.carry(entry.body, "vector", [made])
    for axis, component in zip("xyz", made, strict=True):
        system.value(axis, component, "")

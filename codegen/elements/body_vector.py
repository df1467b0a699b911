"""A direction fixed on a body, given as it is in the file's pose: no coordinates of its own."""

from __future__ import annotations

from codegen import fields
from codegen.fields import Name, VectorValue
from codegen.system import System
from codegen.vectors import dot

STAGE = 2


class Entry(fields.Entry):
    body: Name
    direction: VectorValue


def add(entry: Entry, name: str, system: System) -> None:
    direction = system.vector("direction", entry.direction)
    if abs(dot(direction, direction) - 1.0) > 1e-9:
        system.mistake("direction", entry.direction, "is not of length 1", "write unit(...)")
    try:
        made = system.body("body", entry.body).direction(system.graph, direction)
    except ValueError as error:
        system.mistake("direction", entry.direction, str(error), "give the body another vector")
        made = direction
    system.vectors[name] = made
    for axis, component in zip("xyz", made, strict=True):
        system.value(axis, component, "")

"""A moving unit vector: three coordinates and the row (v.v - 1)/2."""

from __future__ import annotations

from codegen.system import fields
from codegen.system.fields import VectorValue
from codegen.system.system import System
from codegen.system.vectors import dot

STAGE = 0


class Entry(fields.Entry):
    direction: VectorValue


def add(entry: Entry, name: str, system: System) -> None:
    start = system.unit("direction", entry.direction)
    x, y, z = (
        system.coordinate(f"{name}_{axis}", "1", value).q
        for axis, value in zip("xyz", start, strict=True)
    )
    system.vectors[name] = (x, y, z)
    system.row("length", (dot((x, y, z), (x, y, z)) - 1.0) / 2.0)
    system.unit_vectors[x, y, z] = system.rows[-1]

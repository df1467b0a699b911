"""Two directions stay perpendicular: a.b = 0; each is a moving unit vector or fixed."""

from __future__ import annotations

from codegen.system import fields
from codegen.system.fields import VectorValue
from codegen.system.system import System
from codegen.system.vectors import cross, dot


class Entry(fields.Entry):
    vectors: tuple[VectorValue, VectorValue]


def add(entry: Entry, name: str, system: System) -> None:
    a, b = (system.direction("vectors", vector) for vector in entry.vectors)
    row = system.row("", system.graph.lift(dot(a, b)))
    for axis, component in zip("xyz", cross(a, b), strict=True):  # on the carrier of the first one
        system.value(f"t{axis}_nm", -component * system.row_multiplier(row), "_nm")

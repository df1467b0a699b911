"""A point slides along a fixed line by a distance: P - start - s u = 0, three rows."""

from __future__ import annotations

from codegen import fields
from codegen.fields import Name, VectorValue
from codegen.system import System
from codegen.vectors import minus, plus, times


class Entry(fields.Entry):
    point: VectorValue
    start_m: VectorValue
    along: VectorValue
    by: Name


def add(entry: Entry, name: str, system: System) -> None:
    point = system.point("point", entry.point)
    start = system.vector("start_m", entry.start_m)
    travel = system.scalar("by", entry.by, "m").q
    along = system.vector("along", entry.along)
    gap = minus(point, plus(start, times(travel, along)))
    for axis, component in zip("xyz", gap, strict=True):
        system.row(axis, system.graph.lift(component))

"""A point follows a curve of the ground whose parameter is a coordinate: three rows."""

from __future__ import annotations

from codegen import fields
from codegen.fields import Name, VectorValue
from codegen.symbolic import expression
from codegen.system import System


class Entry(fields.Entry):
    point: VectorValue
    by: Name  # the coordinate that the curve is written in
    curve_m: tuple[str, str, str]  # x, y, z as expressions of it


def add(entry: Entry, name: str, system: System) -> None:
    point = system.point("point", entry.point)
    system.scalar("by", entry.by)
    for axis, component, text in zip("xyz", point, entry.curve_m, strict=True):
        system.row_if_moving(axis, component - expression("curve_m", text, system))

"""A point stays in a plane of a body or of the ground: one row."""

from __future__ import annotations

from codegen.system import fields
from codegen.system.fields import Name, VectorValue
from codegen.system.system import System
from codegen.system.vectors import dot, minus


class Entry(fields.Entry):
    point: VectorValue
    body: Name = "ground"
    start_m: VectorValue  # a point of the plane
    normal: VectorValue


def add(entry: Entry, name: str, system: System) -> None:
    point = system.point("point", entry.point)
    start = system.on_body("start_m", entry.body, entry.start_m, is_point=True)
    normal = system.on_body("normal", entry.body, entry.normal, is_point=False)
    row = system.row_if_moving("plane", dot(minus(point, start), normal))
    if row is not None:
        system.value("force_n", -system.row_multiplier(row), "_n")  # on the point, along `normal`

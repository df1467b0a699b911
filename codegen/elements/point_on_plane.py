"""A point stays in a plane of a body or of the ground: one row."""

from __future__ import annotations

from codegen import fields
from codegen.fields import Name, VectorValue
from codegen.system import System
from codegen.vectors import dot, minus


class Entry(fields.Entry):
    point: VectorValue
    body: Name = "ground"
    start_m: VectorValue  # a point of the plane
    normal: VectorValue


def add(entry: Entry, name: str, system: System) -> None:
    point = system.point("point", entry.point)
    body = system.body("body", entry.body)
    start = body.point(system.graph, system.vector("start_m", entry.start_m))
    normal = body.direction(system.graph, system.vector("normal", entry.normal))
    system.row_if_moving("plane", dot(minus(point, start), normal))

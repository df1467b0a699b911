"""A point stays on a line of a body or of the ground: two rows."""

from __future__ import annotations

from codegen import fields, joints
from codegen.fields import Name, VectorValue
from codegen.system import System
from codegen.vectors import dot, minus


class Entry(fields.Entry):
    point: VectorValue
    body: Name = "ground"
    start_m: VectorValue  # a point of the line
    along: VectorValue


def add(entry: Entry, name: str, system: System) -> None:
    point = system.point("point", entry.point)
    body = system.body("body", entry.body)
    start = body.point(system.graph, system.vector("start_m", entry.start_m))
    for number, side in enumerate(joints.perpendiculars(system.vector("along", entry.along))):
        row = dot(minus(point, start), body.direction(system.graph, side))
        system.row_if_moving(f"side {number + 1}", row)

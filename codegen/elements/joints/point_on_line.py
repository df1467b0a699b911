"""A point stays on a line of a body or of the ground: two rows."""

from __future__ import annotations

from codegen.system import fields, joints
from codegen.system.fields import Name, VectorValue
from codegen.system.system import System
from codegen.system.vectors import dot, minus


class Entry(fields.Entry):
    point: VectorValue
    body: Name = "ground"
    start_m: VectorValue  # a point of the line
    along: VectorValue


def add(entry: Entry, name: str, system: System) -> None:
    point = system.point("point", entry.point)
    start = system.on_body("start_m", entry.body, entry.start_m, is_point=True)
    along = system.unit("along", entry.along)
    pushes = []
    for number, side in enumerate(joints.perpendiculars(along)):
        held = system.on_body("along", entry.body, side, is_point=False)
        row = system.row_if_moving(f"side {number + 1}", dot(minus(point, start), held))
        if row is not None:
            pushes.append((system.row_multiplier(row), held))
    joints.show_force(pushes, system)  # on the point

"""A point follows a curve of a body or of the ground: three rows.

The curve is written in a coordinate, in global axes as it is in the file's pose.
"""

from __future__ import annotations

from codegen.system import fields, joints
from codegen.system.fields import Name, VectorValue
from codegen.system.symbolic import expression
from codegen.system.system import System


class Entry(fields.Entry):
    point: VectorValue
    body: Name = "ground"
    by: Name  # the coordinate that the curve is written in
    curve_m: tuple[str, str, str]  # x, y, z as expressions of it


def add(entry: Entry, name: str, system: System) -> None:
    point = system.point("point", entry.point)
    system.scalar("by", entry.by)
    x, y, z = (expression("curve_m", text, system) for text in entry.curve_m)
    try:
        place = system.body("body", entry.body).point(system.graph, (x, y, z))
    except ValueError as error:
        remedy = "give the body more points or vectors"
        system.mistake("curve_m", list(entry.curve_m), str(error), remedy)
        return
    pushes = []
    for (axis, direction), component, on in zip(joints.AXES.items(), point, place, strict=True):
        row = system.row_if_moving(axis, component - on)
        if row is not None:
            pushes.append((system.row_multiplier(row), direction))
    joints.show_force(pushes, system)  # on the point

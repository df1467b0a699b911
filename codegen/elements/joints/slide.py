"""A point slides along a fixed line by a distance: P - start - s u = 0, three rows."""

from __future__ import annotations

from codegen.system import fields, joints
from codegen.system.fields import Name, VectorValue
from codegen.system.system import System
from codegen.system.vectors import minus, plus, times


class Entry(fields.Entry):
    point: VectorValue
    start_m: VectorValue
    along: VectorValue
    by: Name


def add(entry: Entry, name: str, system: System) -> None:
    point = system.point("point", entry.point)
    start = system.vector("start_m", entry.start_m)
    travel = system.scalar("by", entry.by, "m")
    along = system.unit("along", entry.along)
    gap = minus(point, plus(start, times(travel.q, along)))
    pushes, moved = [], system.graph.zero
    for (axis, direction), component in zip(joints.AXES.items(), gap, strict=True):
        row = system.row_if_moving(axis, component)
        if row is not None:
            pushes.append((system.row_multiplier(row), direction))
            moved = moved + system.reaction(row, travel)
    joints.show_force(pushes, system)  # on the point
    system.value("force_n", moved, "_n")  # on the distance

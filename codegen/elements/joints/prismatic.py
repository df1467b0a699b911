"""The first body slides along a direction of the second and does not turn: five rows."""

from __future__ import annotations

from codegen.system import joints
from codegen.system.fields import Name, VectorValue
from codegen.system.system import System


class Entry(joints.Entry):
    axis: VectorValue
    travel: Name | None = None


def add(entry: Entry, name: str, system: System) -> None:
    joint = joints.Joint(entry, system)
    axis = system.unit("axis", entry.axis)
    joint.meet(joints.perpendiculars(axis))
    joint.lock()
    if entry.travel is not None:
        joint.measure_travel(entry.travel, axis)
    joint.show_reaction()

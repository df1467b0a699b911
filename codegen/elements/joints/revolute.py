"""Two bodies share a point and an axis: five rows; `angle` measures the turn of the first."""

from __future__ import annotations

from codegen.system import joints
from codegen.system.fields import Name, VectorValue
from codegen.system.system import System


class Entry(joints.Entry):
    axis: VectorValue
    angle: Name | None = None


def add(entry: Entry, name: str, system: System) -> None:
    joint = joints.Joint(entry, system)
    axis = system.unit("axis", entry.axis)
    joint.meet()
    joint.parallel(axis)
    if entry.angle is not None:
        joint.measure_angle(entry.angle, axis)
    joint.show_reaction()

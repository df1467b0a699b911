"""The first body moves in a plane of the second, normal to `axis`: three rows."""

from __future__ import annotations

from codegen.system import joints
from codegen.system.fields import VectorValue
from codegen.system.system import System


class Entry(joints.Entry):
    axis: VectorValue


def add(entry: Entry, name: str, system: System) -> None:
    joint = joints.Joint(entry, system)
    axis = system.unit("axis", entry.axis)
    joint.meet((axis,))
    joint.parallel(axis)
    joint.show_reaction()

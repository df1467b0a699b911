"""Two bodies share a point, and a pin of each stays perpendicular to the other's: four rows
(Cardan joint).
"""

from __future__ import annotations

from codegen.system import joints
from codegen.system.fields import VectorValue
from codegen.system.system import System
from codegen.system.vectors import dot


class Entry(joints.Entry):
    pins: tuple[VectorValue, VectorValue]  # of the first and of the second body


def add(entry: Entry, name: str, system: System) -> None:
    joint = joints.Joint(entry, system)
    first, second = (system.unit("pins", pin) for pin in entry.pins)
    if abs(dot(first, second)) > 1e-9:
        system.mistake("pins", list(entry.pins), "are not perpendicular", "use cross()")
    joint.meet()
    joint.across(first, second)
    joint.show_reaction((first, second))

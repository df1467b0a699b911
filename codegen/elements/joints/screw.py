"""A cylindrical joint whose travel goes with its turn: travel = lead x angle / (2 pi), from
where both were built.
"""

from __future__ import annotations

import math

from codegen.system import joints
from codegen.system.fields import Name, Number, VectorValue
from codegen.system.system import System


class Entry(joints.Entry):
    axis: VectorValue
    angle: Name
    lead_m: Number  # travel of one turn; negative for a left-handed thread


def add(entry: Entry, name: str, system: System) -> None:
    joint = joints.Joint(entry, system)
    axis = system.unit("axis", entry.axis)
    lead = system.number("lead_m", entry.lead_m) / (2.0 * math.pi)
    joint.meet(joints.perpendiculars(axis))
    joint.parallel(axis)
    turn = joint.measure_angle(entry.angle, axis)
    joint.thread(axis, turn, lead)
    joint.show_reaction()

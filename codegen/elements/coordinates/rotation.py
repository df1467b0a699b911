"""An angle measures how far a vector, or a point from a centre, has turned about a fixed axis.

Row: (r.e2 cos(angle) - r.e1 sin(angle)) / |r|, with e1 = `zero` and e2 = `axis` x e1. Its
derivative by the angle is
-1 everywhere, so it never loses rank; the second root (angle + pi) is excluded by continuity.
"""

from __future__ import annotations

import math

from codegen.system import fields
from codegen.system.fields import Name, VectorValue
from codegen.system.system import System
from codegen.system.vectors import cross, dot, minus


class Entry(fields.Entry):
    angle: Name
    axis: VectorValue
    zero: VectorValue
    vector: VectorValue | None = None
    point: VectorValue | None = None
    centre_m: VectorValue | None = None


def add(entry: Entry, name: str, system: System) -> None:
    measured = system.scalar("angle", entry.angle, "rad")
    angle = measured.q
    e1, axis = system.unit("zero", entry.zero), system.unit("axis", entry.axis)
    e2 = cross(axis, e1)
    if abs(dot(axis, e1)) > 1e-9:
        remedy = "use unit(cross(axis, ...))"
        system.mistake("zero", entry.zero, "is not perpendicular to the axis", remedy)
    if entry.vector is not None and entry.point is None and entry.centre_m is None:
        arm = system.direction("vector", entry.vector)
    elif entry.vector is None and entry.point is not None and entry.centre_m is not None:
        point = system.point("point", entry.point)
        arm = minus(point, system.vector("centre_m", entry.centre_m))
    else:
        system.mistake(
            "", None, "needs one thing that turns", "give `vector`, or `point` and `centre_m`"
        )
        return
    radius = math.hypot(system.initial(dot(arm, e1)), system.initial(dot(arm, e2)))
    if radius < 1e-9:
        system.mistake("zero", entry.zero, "the arm is on the axis", "take another point or axis")
        return
    sine, cosine = system.graph.call("sin", angle), system.graph.call("cos", angle)
    row = system.row("", (dot(arm, e2) / radius) * cosine - (dot(arm, e1) / radius) * sine)
    system.value("torque_nm", system.reaction(row, measured), "_nm")

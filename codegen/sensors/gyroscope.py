"""A gyroscope: the turning rate about a fixed axis of an angle, or of the line between two points."""

from __future__ import annotations

from codegen.expressions.dag import Expr
from codegen.sensors import Sensing
from codegen.system import fields
from codegen.system.fields import Name, VectorValue
from codegen.system.vectors import cross, dot, minus


class Entry(fields.Entry):
    angle: Name | None = None
    points: tuple[VectorValue, VectorValue] | None = None  # in the plane across the axis
    axis: VectorValue = (0.0, 0.0, 1.0)


def measure(entry: Entry, sensing: Sensing) -> tuple[Expr | float, str]:
    system = sensing.system
    if entry.angle is not None and entry.points is None:
        return system.scalar("angle", entry.angle, "rad").qd, "rad_s"
    if entry.angle is not None or entry.points is None:
        system.mistake("", None, "needs one thing that turns", "give `angle` or `points`")
        return 0.0, "rad_s"
    axis = system.unit("axis", entry.axis)
    a, b = (system.point("points", point) for point in entry.points)
    line = minus(b, a)
    rate = [system.rate(component) for component in line]
    # of the parts across the axis: r x r_dot / |r|^2
    along = dot(line, axis)
    span = dot(line, line) - along * along
    turned = dot(cross(line, (rate[0], rate[1], rate[2])), axis)
    return turned / system.graph.lift(span), "rad_s"

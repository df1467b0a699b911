"""A gyroscope: the turning rate about an axis of an angle, of the line between two points, or of a body or node."""

from __future__ import annotations

from codegen.expressions.dag import Expr
from codegen.sensors import Sensing
from codegen.system import fields
from codegen.system.fields import Name, VectorValue
from codegen.system.vectors import Vector, cross, dot, minus, plus


class Entry(fields.Entry):
    angle: Name | None = None
    points: tuple[VectorValue, VectorValue] | None = None  # in the plane across the axis
    body: Name | None = None  # or a node of a body that bends
    axis: VectorValue = (0.0, 0.0, 1.0)  # with `body` also a vector that turns with it


def measure(entry: Entry, sensing: Sensing) -> tuple[Expr | float, str]:
    system = sensing.system
    given = [x for x in (entry.angle, entry.points, entry.body) if x is not None]
    if len(given) != 1:
        remedy = "give one of `angle`, `points` and `body`"
        system.mistake("", None, "needs one thing that turns", remedy)
        return 0.0, "rad_s"
    if entry.angle is not None:
        return system.scalar("angle", entry.angle, "rad").qd, "rad_s"
    if entry.body is not None:
        return _of_body(entry.body, system.direction("axis", entry.axis), sensing), "rad_s"
    assert entry.points is not None
    axis = system.unit("axis", entry.axis)
    a, b = (system.point("points", point) for point in entry.points)
    line = minus(b, a)
    rate = [system.rate(component) for component in line]
    # of the parts across the axis: r x r_dot / |r|^2
    along = dot(line, axis)
    span = dot(line, line) - along * along
    turned = dot(cross(line, (rate[0], rate[1], rate[2])), axis)
    return turned / system.graph.lift(span), "rad_s"


def _of_body(name: str, axis: Vector, sensing: Sensing) -> Expr | float:
    """Half of the sum of e x e' over three directions across each other is their turning rate."""
    system = sensing.system
    body = system.body("body", name)
    turned: Vector = (0.0, 0.0, 0.0)
    for unit in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)):
        try:
            e = body.direction(system.graph, unit)
        except ValueError as error:
            remedy = "give it vectors, or a node rotations"
            system.mistake("body", name, f"the body {error}", remedy)
            return 0.0
        x, y, z = (system.rate(component) for component in e)
        turned = plus(turned, cross(e, (x, y, z)))
    return dot(turned, axis) * 0.5

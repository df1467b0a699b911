"""The conditions that joints are made of: two bodies meet in a point, on a line or plane; their
directions stay parallel; their turn or travel is measured by a coordinate.

The first body of a joint carries the moving side, the second one (often `ground`) the axes.
Positions and directions are those of the file's pose.
"""

from __future__ import annotations

import math

from codegen import fields
from codegen.body import Body
from codegen.dag import Expr
from codegen.fields import Name, VectorValue
from codegen.system import System
from codegen.vectors import Vector, cross, dot, minus, times

Fixed = tuple[float, float, float]


class Entry(fields.Entry):
    """Keys that all joints of two bodies share."""

    bodies: tuple[Name, Name]
    point_m: VectorValue


class Joint:
    """Two bodies and a point, resolved; adds rows to the system."""

    def __init__(self, entry: Entry, system: System) -> None:
        self.system = system
        self.first, self.second = (system.body("bodies", name) for name in entry.bodies)
        self.at = system.vector("point_m", entry.point_m)
        if entry.bodies[0] == entry.bodies[1]:
            system.mistake("bodies", list(entry.bodies), "are the same", "name two bodies")

    def on(self, body: Body, direction: Fixed) -> Vector:
        """A direction of a body."""
        try:
            return body.direction(self.system.graph, direction)
        except ValueError as error:
            self.system.mistake("bodies", None, f"the joint's axis {error}", "add a vector to it")
            return direction

    def gap(self) -> Vector:
        """From the second body's point to the first one's."""
        ends = []
        for body in (self.first, self.second):
            try:
                ends.append(body.point(self.system.graph, self.at))
            except ValueError as error:
                remedy = "add a point or vector to the body"
                self.system.mistake("point_m", list(self.at), str(error), remedy)
                ends.append(self.at)
        return minus(ends[0], ends[1])

    def unit(self, key: str, value: VectorValue) -> Fixed:
        x, y, z = self.system.vector(key, value)
        size = math.sqrt(x * x + y * y + z * z)
        if abs(size - 1.0) > 1e-9:
            self.system.mistake(key, value, "is not of length 1", "write unit(...)")
        return (x, y, z)

    def meet(self, along: tuple[Fixed, ...] | None = None) -> None:
        """The points coincide, or only their gap along these directions of the second body
        vanishes.
        """
        gap = self.gap()
        if along is None:
            for axis, component in zip("xyz", gap, strict=True):
                self.system.row_if_moving(f"meet {axis}", component)
            return
        for number, direction in enumerate(along):
            row = dot(gap, self.on(self.second, direction))
            self.system.row_if_moving(f"meet {number + 1}", row)

    def parallel(self, axis: Fixed) -> None:
        """The axis stays the axis of both."""
        held = self.on(self.second, axis)
        for number, side in enumerate(perpendiculars(axis)):
            row = dot(self.on(self.first, side), held)
            self.system.row_if_moving(f"axis {number + 1}", row)

    def lock(self) -> None:
        """No turn between the bodies."""
        for a, b in (("x", "y"), ("y", "z"), ("z", "x")):
            one, other = (_AXES[letter] for letter in (a, b))
            row = dot(self.on(self.first, one), self.on(self.second, other))
            self.system.row_if_moving(f"turn {a}{b}", row)

    def measure_angle(self, name: str, axis: Fixed) -> Expr:
        """A coordinate follows the turn of the first body about the axis of the second; zero, or
        the coordinate's initial value, as built.
        """
        angle = self.system.scalar("angle", name, "rad")
        e1, e2 = perpendiculars(axis)
        graph = self.system.graph
        # the moving direction stands at the initial angle from the first fixed one as built
        c, s = math.cos(angle.initial), math.sin(angle.initial)
        start = _mixed(c, e1, -s, e2)
        ahead = _mixed(s, e1, c, e2)
        moving = self.on(self.first, e1)
        x = dot(moving, self.on(self.second, start))
        y = dot(moving, self.on(self.second, ahead))
        row = y * graph.call("cos", angle.q) - x * graph.call("sin", angle.q)
        self.system.row("angle", graph.lift(row))
        return angle.q

    def measure_travel(self, name: str, axis: Fixed) -> Expr:
        """A coordinate follows the travel of the first body along the axis of the second."""
        travel = self.system.scalar("travel", name, "m")
        row = dot(self.gap(), self.on(self.second, axis)) - travel.q + travel.initial
        self.system.row("travel", row)
        return travel.q


_AXES: dict[str, Fixed] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def _mixed(a: float, first: Fixed, b: float, second: Fixed) -> Fixed:
    x, y, z = (a * p + b * q for p, q in zip(first, second, strict=True))
    return (x, y, z)


def perpendiculars(axis: Fixed) -> tuple[Fixed, Fixed]:
    """Two unit vectors that make a right-handed frame with the axis of length 1: e1 x e2 = axis."""
    least = min(range(3), key=lambda i: abs(axis[i]))
    seed = tuple(float(i == least) for i in range(3))
    side = cross(seed, axis)  # type: ignore[arg-type]
    x, y, z = times(1.0 / math.sqrt(dot(side, side)), side)
    e1: Fixed = (x, y, z)
    a, b, c = cross(axis, e1)
    return e1, (a, b, c)

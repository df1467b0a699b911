"""The conditions that joints are made of: two bodies meet in a point, on a line or plane; their
directions stay parallel; their turn or travel is measured by a coordinate.

The first body of a joint carries the moving side, the second one (often `ground`) the axes.
Positions and directions are those of the file's pose.

The reaction of a joint on its first body is a force at the body's point and a moment about it. A row
d . gap pushes with -lam d; a row u . v, with u of the first body and v of the second, turns with
-lam u x v, since u moves by omega x u.
"""

from __future__ import annotations

import math

from codegen.expressions.dag import Expr
from codegen.system import fields
from codegen.system.body import Body
from codegen.system.fields import Name, VectorValue
from codegen.system.quantities import JointPlace
from codegen.system.system import System
from codegen.system.vectors import Vector, cross, dot, minus, times

Fixed = tuple[float, float, float]
Pushes = list[tuple[Expr, Vector]]  # multipliers and the directions that they push against


class Entry(fields.Entry):
    """Keys that all joints of two bodies share."""

    bodies: tuple[Name, Name]
    point_m: VectorValue


class Joint:
    """Two bodies and a point, resolved; adds rows to the system."""

    def __init__(self, entry: Entry, system: System) -> None:
        self.system = system
        self._known = len(system.mistakes)
        self.first, self.second = (system.body("bodies", name) for name in entry.bodies)
        self.at = system.vector("point_m", entry.point_m)
        self._names = entry.bodies
        self._force: Pushes = []
        self._moment: Pushes = []
        if entry.bodies[0] == entry.bodies[1]:
            system.mistake("bodies", list(entry.bodies), "are the same", "name two bodies")

    def on(self, body: Body, direction: Fixed) -> Vector:
        """A direction of a body."""
        try:
            return body.direction(self.system.graph, direction)
        except ValueError as error:
            if len(self.system.mistakes) == self._known:  # else it may be no axis of the file
                name = self._names[0] if body is self.first else self._names[1]
                problem = f"the joint's axis {error}"
                self.system.mistake("bodies", name, problem, "add a vector to that body")
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

    def meet(self, along: tuple[Fixed, ...] | None = None) -> None:
        """The points coincide, or only their gap along these directions of the second body
        vanishes.
        """
        gap = self.gap()
        if along is None:
            for axis, direction in AXES.items():
                self._push(f"meet {axis}", dot(gap, direction), direction)
            return
        for number, direction in enumerate(along):
            held = self.on(self.second, direction)
            self._push(f"meet {number + 1}", dot(gap, held), held)

    def parallel(self, axis: Fixed) -> None:
        """The axis stays the axis of both."""
        held = self.on(self.second, axis)
        for number, side in enumerate(perpendiculars(axis)):
            self._turn(f"axis {number + 1}", self.on(self.first, side), held)

    def across(self, first: Fixed, second: Fixed) -> None:
        """A direction of the first body stays perpendicular to one of the second."""
        self._turn("cross", self.on(self.first, first), self.on(self.second, second))

    def lock(self) -> None:
        """No turn between the bodies."""
        for a, b in (("x", "y"), ("y", "z"), ("z", "x")):
            one, other = self.on(self.first, AXES[a]), self.on(self.second, AXES[b])
            self._turn(f"turn {a}{b}", one, other)

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
        x_axis, y_axis = self.on(self.second, start), self.on(self.second, ahead)
        cosine, sine = graph.call("cos", angle.q), graph.call("sin", angle.q)
        row = self.system.row(
            "angle", graph.lift(dot(moving, y_axis) * cosine - dot(moving, x_axis) * sine)
        )
        turned = minus(times(cosine, y_axis), times(sine, x_axis))
        self._moment.append((self.system.row_multiplier(row), cross(moving, turned)))
        return angle.q

    def measure_travel(self, name: str, axis: Fixed) -> Expr:
        """A coordinate follows the travel of the first body along the axis of the second."""
        travel = self.system.scalar("travel", name, "m")
        held = self.on(self.second, axis)
        self._push("travel", dot(self.gap(), held) - travel.q + travel.initial, held)
        return travel.q

    def thread(self, axis: Fixed, turn: Expr, lead_m_per_rad: float) -> None:
        """The first body travels along the axis of the second as it turns."""
        held = self.on(self.second, axis)
        turned = turn - self.system.initial(turn)
        self._push("thread", dot(self.gap(), held) - lead_m_per_rad * turned, held)

    def show_reaction(self, pins: tuple[Fixed, Fixed] | None = None) -> None:
        """Force and moment on the first body become values for outputs, once all rows are there."""
        self.system.joints["/".join(self.system.at)] = JointPlace(*self._names, self.at, pins)
        show_force(self._force, self.system)
        _show(self._moment, "t", "nm", self.system)

    def _push(self, label: str, phi: Expr | float, direction: Vector) -> None:
        row = self.system.row_if_moving(label, phi)
        if row is not None:
            self._force.append((self.system.row_multiplier(row), direction))

    def _turn(self, label: str, first: Vector, second: Vector) -> None:
        row = self.system.row_if_moving(label, dot(first, second))
        if row is not None:
            self._moment.append((self.system.row_multiplier(row), cross(first, second)))


AXES: dict[str, Fixed] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def show_force(pushes: Pushes, system: System) -> None:
    """The force of some rows becomes the values `fx_n fy_n fz_n` of this element.

    A row that another element has added already is in that element's values alone.
    """
    _show(pushes, "f", "n", system)


def _show(pushes: Pushes, letter: str, unit: str, system: System) -> None:
    for k, axis in enumerate("xyz"):
        total = system.graph.total((-1.0, lam * direction[k]) for lam, direction in pushes)
        system.value(f"{letter}{axis}_{unit}", total, f"_{unit}")


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

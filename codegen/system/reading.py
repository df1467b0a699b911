"""Contents of a mechanism file, and their meaning: numbers, points, directions, coordinates, bodies.

A mistake is noted and a harmless value returned, so that all mistakes of a file are reported at once.
Names of tables that have a mistake themselves are taken without another one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from codegen.expressions.dag import Expr, Graph
from codegen.system.arithmetic import ArithmeticMistake, Value, evaluate
from codegen.system.body import GROUND, Body
from codegen.system.fields import Input, Number, Tunable, VectorValue
from codegen.system.quantities import Coordinate, Quantity
from codegen.system.vectors import Vector
from rig_configs.mistakes import Mistake, near

LARGEST = 1e15  # of any number: squares and products of several stay far from overflow


@dataclass
class Reading:
    """A file being read: the place in it, the names so far, and its mistakes."""

    file: str
    names: dict[str, Value]
    gravity: tuple[float, float, float]
    graph: Graph = field(default_factory=Graph)
    at: tuple[str, ...] = ()
    mistakes: list[Mistake] = field(default_factory=list)
    failed: set[str] = field(default_factory=set)
    coordinates: list[Coordinate] = field(default_factory=list)
    scalars: dict[str, Coordinate] = field(default_factory=dict)
    points: dict[str, Vector] = field(default_factory=dict)
    vectors: dict[str, Vector] = field(default_factory=dict)
    bodies: dict[str, Body] = field(default_factory=dict)
    # bodies that a "point" or "vector" is fixed on
    carriers: dict[tuple[str, Vector], set[str]] = field(default_factory=dict)
    parameters: list[Quantity] = field(default_factory=list)
    signals: list[Quantity] = field(default_factory=list)
    _at_start: dict[str, float] = field(default_factory=lambda: {"unknown": 0.0})

    def is_excused(self, name: str) -> bool:
        """Return whether a name, or the place that it belongs to (`P` of `P_x`), failed already."""
        return name in self.failed or name.rpartition("_")[0] in self.failed

    def mistake(self, key: str, value: object, problem: str, remedy: str) -> None:
        path = ".".join([*self.at, key]) if key else ".".join(self.at)
        given = {} if value is None else {"value": value}
        made = Mistake(self.file, path, problem, remedy, **given)
        if made not in self.mistakes:  # an element may read a name twice
            self.mistakes.append(made)

    def number(self, key: str, value: Number) -> float:
        """A constant of the mechanism, from a number or arithmetic text."""
        result = self._arithmetic(key, value, 1.0)
        if isinstance(result, tuple):
            self.mistake(key, value, "is a vector", "write a number")
            return 1.0
        if not math.isfinite(result):
            self.mistake(key, value, "is not finite", "write a number")
            return 1.0
        if abs(result) > LARGEST:
            self.mistake(key, value, f"is beyond {LARGEST:g}", "write it in SI units")
            return 1.0
        return result

    def vector(self, key: str, value: VectorValue) -> tuple[float, float, float]:
        """A constant 3-vector, from three numbers or arithmetic text."""
        if isinstance(value, str):
            result = self._arithmetic(key, value, (1.0, 0.0, 0.0))
            if not isinstance(result, tuple):
                self.mistake(key, value, "is a number", "write a vector")
                return (1.0, 0.0, 0.0)
            if max(map(abs, result)) > LARGEST:
                self.mistake(key, value, f"is beyond {LARGEST:g}", "write it in SI units")
                return (1.0, 0.0, 0.0)
            return result
        x, y, z = (self.number(key, part) for part in value)
        return (x, y, z)

    def _arithmetic(self, key: str, value: Number, fallback: Value) -> Value:
        if not isinstance(value, str):
            return float(value)
        try:
            return evaluate(value, self.names)
        except ArithmeticMistake as error:
            if not any(self.is_excused(word) for word in re.findall(r"[A-Za-z_]\w*", value)):
                self.mistake(key, value, str(error), "correct the expression")
            return fallback

    def point(self, key: str, value: VectorValue) -> Vector:
        """A moving point by name, or a ground point by arithmetic."""
        if isinstance(value, str) and value in self.points:
            return self.points[value]
        if isinstance(value, str) and self._is_unknown(key, value, "point", self.points):
            return self._somewhere(value)
        return self.vector(key, value)

    def _somewhere(self, name: str) -> Vector:
        """A point for one that failed; no two of them in one place, so that nothing else fails."""
        axes = [self.graph.var(f"unknown {name} {axis}") for axis in "xyz"]
        for k, axis in enumerate(axes):
            # squares: sines of a row of angles would lie in a plane
            place = math.sin((1.0 + k + len(self._at_start)) ** 2)
            self._at_start.setdefault(axis.name, place)
        return (axes[0], axes[1], axes[2])

    def direction(self, key: str, value: VectorValue) -> Vector:
        """A moving unit vector by name, or a fixed direction by arithmetic."""
        if isinstance(value, str) and value in self.vectors:
            return self.vectors[value]
        if isinstance(value, str) and self._is_unknown(key, value, "vector", self.vectors):
            return (1.0, 0.0, 0.0)
        return self.vector(key, value)

    def _is_unknown(self, key: str, name: str, kind: str, known: Iterable[str]) -> bool:
        """Decide if a word is a name that nothing has; say so, unless it was said before."""
        if not name.isidentifier() or name in self.names:
            return False
        if not self.is_excused(name):
            self.mistake(key, name, f"unknown {kind}", near(name, [*known, *self.names]))
        return True

    def unit(self, key: str, value: VectorValue) -> tuple[float, float, float]:
        """A constant direction, which must be of length 1."""
        x, y, z = self.vector(key, value)
        if x == y == z == 0.0:
            self.mistake(key, value, "has no direction", "write one, such as [0, 0, 1]")
            return (1.0, 0.0, 0.0)
        if abs(math.sqrt(x * x + y * y + z * z) - 1.0) > 1e-9:
            self.mistake(key, value, "is not of length 1", "write unit(...)")
            return (1.0, 0.0, 0.0)
        return (x, y, z)

    def scalar(self, key: str, value: str, unit: str | None = None) -> Coordinate:
        """An angle or distance coordinate by name."""
        found = self.scalars.get(value)
        kind = {"rad": "angle", "m": "distance", None: "angle or distance"}[unit]
        if found is None:
            if not self.is_excused(value):
                self.mistake(key, value, f"unknown {kind}", near(value, self.scalars))
        elif unit is not None and found.unit != unit:
            known = [name for name, c in self.scalars.items() if c.unit == unit]
            self.mistake(key, value, f"is not an {kind}", near(value, known))
        else:
            return found
        dummy = self.graph.var("unknown")
        return Coordinate(0, value, unit or "rad", 0.0, 0.0, dummy, dummy)

    def any_coordinate(self, key: str, value: str) -> Coordinate:
        """An angle, a distance or a point's coordinate (`B_y`) by name."""
        found = next((c for c in self.coordinates if c.name == value and c.unit != "1"), None)
        return self.scalar(key, value) if found is None else found

    def body(self, key: str, value: str) -> Body:
        """A rigid body by name, or `ground`."""
        if value in self.bodies:
            return self.bodies[value]
        if value != "ground" and not self.is_excused(value):
            self.mistake(key, value, "unknown body", near(value, [*self.bodies, "ground"]))
        return GROUND

    def on_body(self, key: str, name: str, value: VectorValue, *, is_point: bool) -> Vector:
        """A point or direction fixed on a body, given as it is in the file's pose."""
        fixed = self.vector(key, value) if is_point else self.unit(key, value)
        body = self.body("body", name)
        try:
            return (body.point if is_point else body.direction)(self.graph, fixed)
        except ValueError as error:
            self.mistake(key, value, str(error), "give the body another vector")
            return fixed

    def carry(self, body: str, kind: str, vectors: Iterable[Vector]) -> None:
        """Note points or vectors that are fixed on a body."""
        for vector in vectors:
            self.carriers.setdefault((kind, vector), set()).add(body)

    def carried_by(self, kind: str, vector: Vector) -> set[str]:
        """Bodies that a point or vector is fixed on."""
        return self.carriers.get((kind, vector), set())

    def inertial(self, key: str, value: Tunable) -> Expr:
        """A mass or moment of inertia: a run-time parameter, not below zero, and never a signal."""
        if isinstance(value, Input):
            remedy = "give a number; kernels take new masses as parameters"
            self.mistake(key, None, "a mass cannot be an input signal", remedy)
            value = 1.0
        mass = self.tunable(key, value, least=0.0)
        if self.parameters[-1].default > 0.0:
            # a part with mass keeps some: without it the equations may have no solution
            self.parameters[-1] = replace(self.parameters[-1], least=None, above=0.0)
        return mass

    def tunable(
        self, key: str, value: Tunable, *, least: float | None = None, above: float | None = None
    ) -> Expr:
        """A run-time parameter with a default, or an input signal when the file says `{ input = ...
        }`; the default must keep to the bounds.
        """
        path = "/".join([*self.at, key])
        is_signal = isinstance(value, Input)
        default = self.number(key, value.input if isinstance(value, Input) else value)
        if least is not None and default < least:
            self.mistake(key, default, f"is below {least:g}", f"give {least:g} or more")
        if above is not None and default <= above:
            self.mistake(key, default, f"is not above {above:g}", f"give more than {above:g}")
        quantity = Quantity(path, default, self.graph.var(path), least, above)
        (self.signals if is_signal else self.parameters).append(quantity)
        return quantity.var
